"""The clients of the matrix: programs, and libraries through a few lines in their own language."""

from . import scripts
from .case import Case
from .place import SPEAKS_H2

# Not in the list of packages that the tests install, because of their size.
OPTIONAL = {"node", "npm"}
PYTHON = "/usr/bin/python3"


def curl(what, *options, scheme="https", path="/x", proxy_only=False, **more):
    def command(place, host):
        url = (place.url if scheme == "https" else place.http_url)(host, path)
        filled = [option.format(place=place) for option in options]
        return ["curl", "-q", "-sS", "--max-time", "40", "--cacert", place.ca_file, *filled, url]
    return Case("curl", what, command, program="curl", direct=None if proxy_only else command, **more)


def s_client(what, *options, sni=True, **more):
    def command(place, host):
        name = ["-servername", host] if sni else ["-noservername"]
        proxy = ["-proxy", place.proxy.listen] if place.proxy_url else []
        return ["openssl", "s_client", *proxy, "-connect", f"{host}:{place.port}", "-CAfile", place.ca_file, "-quiet", "-verify_return_error",
                "-ignore_unexpected_eof", *name, *options]
    request = b"GET /x HTTP/1.0\r\nHost: a.test\r\n\r\n"
    return Case("openssl s_client", what, command, program="openssl", version=("version",),
                data=request, direct=command, **more)


def library(client, interpreter, what, script, version, **more):
    def command(place, host):
        proxy, port = place.proxy.listen.rsplit(":", 1) if place.proxy_url else ("", "")
        return [*interpreter, script, place.url(host), place.http_url(host), proxy, port,
                place.ca_file, host, place.port]
    return Case(client, what, command, program=interpreter[0], version=version, direct=command, **more)


def python(client, what, script, module=None):
    version = ("-c", f"import {module}; print({module}.__version__)") if module else ("--version",)
    return library(client, [PYTHON, "-c"], what, script, version)


def wget(place, host):
    return ["wget", "-t1", "-nv", "-O-", f"--ca-certificate={place.ca_file}", place.url(host)]


def git(place, host):
    return ["git", "-c", f"http.sslCAInfo={place.ca_file}", "clone", "--progress",
            place.url(host, "/repository.git"), f"{place.folder}/clone-{host}"]


def option(name, value):
    return [name, value] if value else []


def pip(place, host):
    return [PYTHON, "-m", "pip", "--isolated", "--no-cache-dir", "--disable-pip-version-check",
            "download", "--retries", "0", "--no-deps", *option("--proxy", place.proxy_url), "--cert",
            place.ca_file, "--index-url", place.url(host, "/simple"), "-d",
            f"{place.folder}/wheels-{host}", "tiny"]


def npm(place, host):
    return ["npm", "install", "--prefix", f"{place.folder}/npm-{host}", "--registry",
            place.url(host, "/"), *option("--https-proxy", place.proxy_url), "--cafile", place.ca_file,
            "--fetch-retries", "0", "--no-audit", "--no-fund", "--no-update-notifier", "tiny"]


def apt(place, host):
    root = place.folder / f"apt-{host}"
    for folder in ("lists/partial", "cache/archives/partial", "state", "etc"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    (root / "etc/sources.list").write_text(f"deb [trusted=yes] {place.url(host, '/apt')} ./\n")
    options = {"Dir::Etc": root / "etc", "Dir::Etc::Parts": "/nonexistent",
               "Dir::State": root / "state", "Dir::State::Lists": root / "lists",
               "Dir::Cache": root / "cache", "APT::Sandbox::User": "root",
               "Acquire::https::Proxy": place.proxy_url or "DIRECT", "Acquire::https::CAInfo": place.ca_file,
               "Acquire::Retries": 0, "APT::Update::Error-Mode": "any",
               "Acquire::Languages": "none"}
    flags = [part for key, value in options.items() for part in ("-o", f"{key}={value}")]
    return ["apt-get", *flags, "update"]


def aria2(place, host):
    return ["aria2c", "-q", "--no-conf", "--max-tries=1", f"--ca-certificate={place.ca_file}",
            "--log=-", "--log-level=notice", "-d", place.folder, "--allow-overwrite=true",
            place.url(host)]


def w3m(place, host):
    return ["w3m", "-o", f"ssl_ca_file={place.ca_file}", "-dump_extra", place.url(host)]


def behind_socat(client, *arguments, direct, **more):
    """Clients that know no proxy, behind socat's PROXY address, or captured as they are."""
    def command(place, host):
        proxy, port = place.proxy.listen.rsplit(":", 1)
        return [PYTHON, "-c", scripts.BEHIND_SOCAT, proxy, port, host, place.port, client,
                *(part.format(host=host, ca=place.ca_file) for part in arguments)]
    def command_without(place, host):
        return [client, *(part.format(host=host, ca=place.ca_file, port=place.port) for part in direct)]
    return Case(client, "behind socat's PROXY:", command, program=client, direct=command_without, **more)


def ssh(place, host):
    proxy = place.proxy.listen
    return ["ssh", "-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no", "-o",
            f"ProxyCommand=nc -X connect -x {proxy} %h %p", f"nobody@{host}", "true"]


UPLOAD = ("-T", "{place.ca_file}")
CASES = [
    curl("https"),
    curl("--http1.0", "--http1.0"),
    curl("--http2 to an HTTP/1.1 origin", "--http2"),
    curl("--http2 to an HTTP/2 origin", "--http2", "-w", " HTTP/%{{http_version}}",
         wanted=" HTTP/2", host=SPEAKS_H2),
    curl("--tlsv1.3 --tls13-ciphers", "--tlsv1.3", "--tls13-ciphers",
         "TLS_CHACHA20_POLY1305_SHA256"),
    curl("--tls-max 1.2", "--tls-max", "1.2"),
    curl("--tls-max 1.2 --ciphers", "--tls-max", "1.2", "--ciphers",
         "ECDHE-ECDSA-AES256-GCM-SHA384"),
    curl("--no-alpn --no-sessionid", "--no-alpn", "--no-sessionid"),
    curl("--proxy-header", "--proxy-header", "X-Anything: 1", proxy_only=True),
    curl("--proxy-user", "--proxy-user", "me:secret", proxy_only=True),
    curl("--suppress-connect-headers -i", "--suppress-connect-headers", "-i", proxy_only=True),
    curl("--proxy1.0", "--proxy1.0", "{place.proxy.listen}", proxy_only=True),
    curl("--head", "--head", wanted="200 OK"),
    curl("--range", "--range", "0-7"),
    curl("--compressed", "--compressed"),
    curl("-T with Expect", *UPLOAD, "-H", "Expect: 100-continue", path="/up"),
    curl("-T -, chunked", "-T", "-", path="/up", data=b"x" * 100_000),
    curl("http", scheme="http"),
    curl("http --http1.0", "--http1.0", scheme="http"),
    curl("http --head", "--head", scheme="http", wanted="200 OK"),
    curl("http --range", "--range", "0-7", scheme="http"),
    curl("http -T with Expect", *UPLOAD, "-H", "Expect: 100-continue", scheme="http", path="/up"),
    curl("http -T -, chunked", "-T", "-", scheme="http", path="/up", data=b"x" * 100_000),
    curl("http with trailers", "-H", "TE: trailers", scheme="http", path="/trailers"),
    curl("http --proxytunnel", "--proxytunnel", scheme="http", expected="port-not-allowed",
         refusable=False, proxy_only=True),
    curl("--haproxy-protocol", "--haproxy-protocol", expected="not-tls", refusable=False),
    curl("--socks5-hostname", "-x", "", "--socks5-hostname", "{place.proxy.listen}",
         expected="bad-request", refusable=False, proxy_only=True),
    curl("-x https://", "--proxy-insecure", "-x", "https://{place.proxy.listen}",
         expected="bad-request", refusable=False, proxy_only=True),
    s_client("TLS 1.3", "-tls1_3"),
    s_client("TLS 1.2", "-tls1_2"),
    s_client("no SNI", sni=False, expected="sni-missing", refusable=False),
    behind_socat("gnutls-cli", "--x509cafile={ca}", "--sni-hostname={host}",
                 "--verify-hostname={host}", "--port=PORT", "127.0.0.1",
                 wanted="Handshake was completed", direct=("--x509cafile={ca}", "--port={port}", "{host}")),
    behind_socat("nghttp", "-H:authority: {host}", "https://127.0.0.1:PORT/x", host=SPEAKS_H2,
                 direct=("https://{host}:{port}/x",)),
    Case("wget", "https", wget, program="wget", direct=wget),
    Case("git", "clone", git, program="git", wanted="Cloning", direct=git),
    Case("pip", "download", pip, program=PYTHON, version=("-m", "pip", "--version"),
         wanted="Saved", direct=pip),
    Case("npm", "install", npm, program="npm", wanted="added 1 package", direct=npm),
    Case("apt-get", "update", apt, program="apt-get", wanted="Reading package lists", direct=apt),
    Case("aria2c", "https", aria2, program="aria2c", wanted="Download complete", direct=aria2),
    Case("w3m", "https", w3m, program="w3m", version=("-version",), direct=w3m),
    Case("ssh", "ProxyCommand nc -X connect", ssh, program="ssh", version=("-V",),
         expected="port-not-allowed", refusable=False),
    python("Python urllib", "https and http", scripts.URLLIB),
    python("Python http.client", "set_tunnel", scripts.HTTP_CLIENT),
    python("Python http.client", "websocket in the tunnel", scripts.WEBSOCKET),
    python("Python requests", "https and http", scripts.REQUESTS, "requests"),
    python("Python httpx", "https and http", scripts.HTTPX, "httpx"),
    python("Python aiohttp", "https and http", scripts.AIOHTTP, "aiohttp"),
    library("Perl LWP", ["perl", "-MLWP::UserAgent", "-e"], "https and http", scripts.LWP,
            ("-MLWP", "-e", "print LWP->VERSION")),
    library("Ruby Net::HTTP", ["ruby", "-ropenssl", "-rnet/http", "-e"], "https", scripts.RUBY,
            ("--version",)),
    library("PHP streams", ["php", "-n", "-r"], "https", scripts.PHP, ("--version",)),
    library("Node https", ["node", "-e"], "CONNECT by an agent", scripts.NODE, ("--version",)),
]
