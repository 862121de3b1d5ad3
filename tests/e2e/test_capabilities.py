"""Capabilities: real clients against stand-ins of the services, and the neighbours that must fail."""

import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from harness.cli import environment, stile
from harness.http_origin import response
from harness.inside import Inside


def serve(body, kind="application/octet-stream"):
    """GET and HEAD of one file."""
    def responder(exchange):
        exchange.read_body()
        answer = response(body, headers=[f"Content-Type: {kind}"])
        is_head = exchange.request.method == "HEAD"
        exchange.send(answer[:len(answer) - len(body)] if is_head else answer)
    return responder


def missing(exchange):
    exchange.read_body()
    exchange.send(response(b"no such file", "404 Not Found"))


class Services:
    """One agent on 127.0.0.1, so that any client can be it."""

    def __init__(self, world, *can, **entry):
        self.world, self.can, self.entry = world, can, entry
        self.origins = {}
        self.daemon = None

    def origin(self, host, files=(), plain=False):
        make = self.world.http_origin if plain else self.world.tls_origin
        made = make(host)
        made.default = missing
        for path, body in dict(files).items():
            made.on(path, body if callable(body) else serve(body))
        self.origins[host] = made
        return made

    def start(self):
        self.world.addresses["alpha"] = "127.0.0.1"
        self.world.agent("alpha", source=["127.0.0.1"], can=list(self.can), **self.entry)
        self.daemon = self.world.start()
        return self

    def run(self, *command, seconds=50, **variables):
        home = self.world.folder / "home"
        home.mkdir(exist_ok=True)
        proxy, ca = f"http://{self.daemon.listen}", self.daemon.stile_ca
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C",
                       "HOME": str(home), "http_proxy": proxy, "https_proxy": proxy,
                       "HTTPS_PROXY": proxy, "HTTP_PROXY": proxy, "SSL_CERT_FILE": ca,
                       "PIP_CERT": ca, "NODE_EXTRA_CA_CERTS": ca, "CURL_CA_BUNDLE": ca, **variables}
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=home,
                              env=environment, timeout=seconds, check=False,
                              stdin=subprocess.DEVNULL)

    def curl(self, host, path, *arguments):
        """The status and the body."""
        done = self.run("curl", "-q", "-sS", "--max-time", "30", "-w", "\n%{http_code}", *arguments,
                        f"https://{host}:{self.world.port}{path}")
        body, _, status = done.stdout.rpartition("\n")
        return int(status), body

    def reasons(self):
        return [line["reason"] for line in self.daemon.audit.entries(event="deny")]


def url(world, host, path=""):
    return f"https://{host}:{world.port}{path}"


def wheel():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("tiny/__init__.py", "")
        archive.writestr("tiny-1.0.dist-info/METADATA",
                         "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        archive.writestr("tiny-1.0.dist-info/WHEEL",
                         "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("tiny-1.0.dist-info/RECORD", "")
    return made.getvalue()


def test_pip_installs_with_pypi_install_and_cannot_upload(world):
    services = Services(world, "pypi:install")
    name = "tiny-1.0-py3-none-any.whl"
    place = f"/packages/aa/bb/{name}"
    link = f'<a href="{url(world, "files.pythonhosted.org", place)}">{name}</a>'.encode()
    index = services.origin("pypi.org", {"/simple/tiny/": serve(link, "text/html")})
    files = services.origin("files.pythonhosted.org", {place: wheel()})
    services.start()
    done = services.run("/usr/bin/python3", "-m", "pip", "download", "--no-deps", "-q",
                        "--disable-pip-version-check", "--no-cache-dir", "-d", "out",
                        "-i", url(world, "pypi.org", "/simple/"), "tiny")
    if "No module named pip" in done.stderr:
        pytest.skip("pip is not installed")
    assert done.returncode == 0, done.stderr + services.daemon.audit.tail()
    assert (world.folder / "home/out" / name).exists()
    assert place in files.paths()
    seen = len(index.requests)
    assert services.curl("pypi.org", "/legacy/", "-F", "content=x")[0] == 403
    assert services.curl("pypi.org", "/manage/projects/")[0] == 403
    assert services.curl("pypi.org", "/simple/tiny/", "-X", "GET", "-d", "data")[0] == 413
    assert len(index.requests) == seen
    assert services.reasons() == ["method-not-allowed", "path-not-allowed", "body-too-large"]


def real_cargo():
    """Not rustup's, which needs the home of its user."""
    found = sorted(Path(os.path.expanduser("~/.rustup/toolchains")).glob("*/bin/cargo"))
    return found[0] if found else shutil.which("cargo")


def crate():
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, text in (("Cargo.toml", '[package]\nname = "tiny"\nversion = "1.0.0"\n'), ("src/lib.rs", "")):
            entry = tarfile.TarInfo(f"tiny-1.0.0/{name}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return made.getvalue()


def test_cargo_fetches_with_crates_fetch_and_cannot_publish(world):
    cargo = real_cargo()
    if not cargo:
        pytest.skip("cargo is not installed")
    services = Services(world, "crates:fetch")
    packed = crate()
    line = json.dumps({"name": "tiny", "vers": "1.0.0", "deps": [], "features": {}, "yanked": False,
                       "cksum": hashlib.sha256(packed).hexdigest()})
    dl = url(world, "static.crates.io", "/crates")
    index = services.origin("index.crates.io", {
        "/config.json": serve(json.dumps({"dl": dl}).encode(), "application/json"),
        "/ti/ny/tiny": serve(line.encode() + b"\n", "text/plain")})
    files = services.origin("static.crates.io", {"/crates/tiny/1.0.0/download": packed})
    services.start()
    home = world.folder / "home"
    (home / "src").mkdir(parents=True)
    (home / "src/lib.rs").write_text("")
    (home / "Cargo.toml").write_text('[package]\nname = "mine"\nversion = "0.1.0"\n[dependencies]\ntiny = "1"\n')
    (home / ".cargo").mkdir()
    (home / ".cargo/config.toml").write_text(
        f'[source.crates-io]\nreplace-with = "near"\n[source.near]\n'
        f'registry = "sparse+{url(world, "index.crates.io", "/")}"\n')
    done = services.run(cargo, "fetch", CARGO_HOME=home / "cargo-home", CARGO_HTTP_CAINFO=services.daemon.stile_ca,
                        PATH=f"{Path(cargo).parent}:/usr/bin:/bin")
    assert done.returncode == 0, done.stderr + services.daemon.audit.tail()
    assert "/crates/tiny/1.0.0/download" in files.paths() and "/ti/ny/tiny" in index.paths()
    assert services.reasons() == []
    seen = len(index.requests) + len(files.requests)
    assert services.curl("crates.io", "/api/v1/crates/new", "-X", "PUT", "-d", "x")[0] == 403
    assert services.curl("static.crates.io", "/crates/tiny/1.0.0/download", "-X", "PUT")[0] == 403
    assert services.curl("static.crates.io", "/other/tiny.crate")[0] == 403
    assert len(index.requests) + len(files.requests) == seen


def test_npm_installs_with_npm_install_and_cannot_publish(world):
    if not shutil.which("npm"):
        pytest.skip("npm is not installed")
    package = json.dumps({"name": "@acme/tiny", "version": "1.0.0"}).encode()
    tarball = io.BytesIO()
    with tarfile.open(fileobj=tarball, mode="w:gz") as archive:
        entry = tarfile.TarInfo("package/package.json")
        entry.size = len(package)
        archive.addfile(entry, io.BytesIO(package))
    host, place = "registry.npmjs.org", "/@acme/tiny/-/tiny-1.0.0.tgz"
    about = {"name": "@acme/tiny", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {
        "name": "@acme/tiny", "version": "1.0.0", "dist": {
            "tarball": url(world, host, place),
            "shasum": hashlib.sha1(tarball.getvalue()).hexdigest()}}}}
    answer = serve(json.dumps(about).encode(), "application/json")
    services = Services(world, "npm:install")
    origin = services.origin(host, {"/@acme%2ftiny": answer, place: tarball.getvalue()})
    services.start()
    config = ("--registry", url(world, host, "/"), "--cafile", services.daemon.stile_ca,
              "--fetch-retries", "0", "--no-update-notifier")
    done = services.run("npm", "install", "@acme/tiny", *config)
    assert done.returncode == 0, done.stderr + services.daemon.audit.tail()
    assert (world.folder / "home/node_modules/@acme/tiny/package.json").exists()
    assert {request.method for request in origin.requests} == {"GET"}
    module = world.folder / "home/module"
    module.mkdir()
    (module / "package.json").write_text(json.dumps({"name": "@acme/tiny", "version": "2.0.0"}))
    token = f"//{host}:{world.port}/:_authToken=mine\n"
    (world.folder / "home/.npmrc").write_text(token)  # without one npm does not even try
    done = services.run("npm", "publish", "./module", "--access", "public", *config)
    assert done.returncode != 0
    assert {request.method for request in origin.requests} == {"GET"}
    assert "method-not-allowed" in services.reasons(), done.stderr


def apt_repository():
    packages = b""
    release = "\n".join([
        "Suite: stable", "Codename: stable", "Components: main", "Architectures: amd64",
        "Date: Tue, 17 Nov 2026 00:00:00 UTC", "SHA256:",
        f" {hashlib.sha256(packages).hexdigest()} {len(packages)} main/binary-amd64/Packages", ""])
    return {"/debian/dists/stable/Release": release.encode(),
            "/debian/dists/stable/main/binary-amd64/Packages": packages}


@pytest.mark.parametrize("is_plain", [True, False], ids=["http", "https"])
def test_apt_updates_with_debian_install(world, is_plain):
    if not shutil.which("apt-get"):
        pytest.skip("apt is not installed")
    services = Services(world, "debian:install")
    origin = services.origin("deb.debian.org", apt_repository(), plain=is_plain)
    services.start()
    base = (f"http://deb.debian.org:{world.http_port}" if is_plain
            else url(world, "deb.debian.org"))
    apt = world.folder / "apt"
    for part in ("lists/partial", "cache/archives/partial", "log"):
        (apt / part).mkdir(parents=True)
    (apt / "status").write_text("")
    (apt / "sources.list").write_text(f"deb [trusted=yes] {base}/debian stable main\n"
                                      f"deb [trusted=yes] {base}/other stable main\n")
    options = {"Dir::Etc::sourcelist": apt / "sources.list", "Dir::Etc::sourceparts": "-",
               "Dir::Etc::main": "-", "Dir::Etc::parts": "-", "Dir::State::lists": apt / "lists",
               "Dir::State::status": apt / "status", "Dir::Cache": apt / "cache",
               "Dir::Log": apt / "log", "APT::Architecture": "amd64",
               "APT::Sandbox::User": "root", "Acquire::Languages": "none",
               "Acquire::http::Proxy": f"http://{services.daemon.listen}",
               "Acquire::https::Proxy": f"http://{services.daemon.listen}",
               "Acquire::https::CAInfo": services.daemon.stile_ca}
    flags = [part for key, value in options.items() for part in ("-o", f"{key}={value}")]
    done = services.run("apt-get", *flags, "update")
    assert "/debian/dists/stable/Release" in origin.paths(), done.stderr
    assert not [path for path in origin.paths() if path.startswith("/other")]
    assert "path-not-allowed" in services.reasons()


@pytest.mark.parametrize("can, works, refused", [
    ("github:read acme/app", [("api.github.com", "/repos/acme/app/issues?page=2", "GET"),
                              ("codeload.github.com", "/acme/app/tar.gz/main", "GET")],
     [("api.github.com", "/graphql", "POST"), ("api.github.com", "/repos/acme/app", "DELETE"),
      ("api.github.com", "/repos/acme/other", "GET"), ("codeload.github.com", "/evil/x", "GET")]),
    ("github:issues acme/app", [("api.github.com", "/repos/acme/app/issues", "POST")],
     [("api.github.com", "/repos/acme/app/pulls", "POST"), ("api.github.com", "/gists", "POST")]),
    ("crates:fetch", [("index.crates.io", "/se/rd/serde", "GET"),
                      ("static.crates.io", "/crates/serde/serde-1.0.0.crate", "GET")],
     [("index.crates.io", "/se/rd/serde", "PUT"), ("static.crates.io", "/other", "GET")]),
    ("go:fetch", [("proxy.golang.org", "/golang.org/x/net/@v/v0.1.0.zip", "GET")],
     [("proxy.golang.org", "/golang.org/x/net", "GET")]),
    ("docker:pull library/alpine",
     [("auth.docker.io", "/token?service=registry.docker.io", "GET"),
      ("registry-1.docker.io", "/v2/library/alpine/manifests/latest", "HEAD"),
      ("production.cloudflare.docker.com", "/registry-v2/docker/registry/v2/x/data", "GET")],
     [("registry-1.docker.io", "/v2/library/alpine/blobs/uploads/", "POST"),
      ("registry-1.docker.io", "/v2/evil/image/manifests/latest", "GET")]),
    ("huggingface:download acme/model",
     [("huggingface.co", "/acme/model/resolve/main/config.json", "HEAD"),
      ("cdn-lfs-us-1.hf.co", "/repos/aa/bb", "GET")],
     [("huggingface.co", "/other/model/resolve/main/x", "GET"),
      ("huggingface.co", "/api/repos/create", "POST"), ("cdn-lfs-us-1.hf.co", "/x", "PUT")]),
    ("anthropic:messages", [("api.anthropic.com", "/v1/messages?beta=true", "POST")],
     [("api.anthropic.com", "/v1/files", "POST"), ("api.anthropic.com", "/v1/messages", "GET")]),
], ids=lambda value: value.split(" ")[0] if isinstance(value, str) else "")
def test_curl_does_what_a_client_does_and_stops_at_the_neighbours(world, can, works, refused):
    services = Services(world, can)
    for host in {host for host, _, _ in works + refused}:
        services.origin(host).default = serve(b"fine")
    services.start()
    for host, path, method in works:
        data = ["-d", "{}"] if method == "POST" else []
        head = ["-I"] if method == "HEAD" else ["-X", method]
        assert services.curl(host, path, *head, *data)[0] == 200, (host, path)
        assert services.origins[host].paths()[-1] == path
    seen = {host: len(origin.requests) for host, origin in services.origins.items()}
    for host, path, method in refused:
        assert services.curl(host, path, "-X", method)[0] == 403, (host, path)
    assert seen == {host: len(origin.requests) for host, origin in services.origins.items()}


def test_the_registry_of_docker_gets_the_token_that_its_own_server_gave(world):
    services = Services(world, "docker:pull library/alpine")
    registry, auth = services.origin("registry-1.docker.io"), services.origin("auth.docker.io")
    registry.default = auth.default = serve(b"{}")
    services.start()
    services.curl("registry-1.docker.io", "/v2/", "-H", "Authorization: Bearer given")
    services.curl("auth.docker.io", "/token", "-H", "Authorization: Basic bWluZTptaW5l")
    assert registry.requests[0].value("authorization") == "Bearer given"
    assert auth.requests[0].value("authorization") is None


GRAPHQL = [
    # As gh and octokit send it.
    ({"query": "query PullRequestList($owner: String!) { repository(owner: $owner, name: \"app\") { id } }",
      "variables": {"owner": "acme"}}, None),
    ({"query": "{ viewer { login } }"}, None),
    ({"query": "fragment F on User { login } query { viewer { ...F } }", "operationName": None}, None),
    ({"query": "mutation { addComment(input: {subjectId: 1, body: \"x\"}) { clientMutationId } }"}, "it is a mutation"),
    ({"query": "query A { a } mutation B { b }", "operationName": "B"}, "it is a mutation"),
    ({"query": "query A { a } query B { b }"}, "it has more than one operation"),
    ({"query": "subscription { a }"}, "it is a subscription"),
    ([{"query": "{ a }"}, {"query": "mutation { b }"}], "the body is not a JSON object with a query"),
    ({"id": "persisted", "variables": {}}, "it has keys other than query, variables and operationName"),
    ({"variables": {}}, "the body has no query"),
]


def test_graphql_queries_pass_and_nothing_else(world):
    services = Services(world, "github:graphql")
    origin = services.origin("api.github.com", {"/graphql": serve(b'{"data":{}}')})
    services.start()

    def post(text, *headers):
        return services.curl("api.github.com", "/graphql", "-d", text,
                             *(part for header in headers for part in ("-H", header)))[0]
    kind = "Content-Type: application/json; charset=utf-8"
    arrived = 0
    for body, fault in GRAPHQL:
        assert post(json.dumps(body), kind) == (403 if fault else 200), body
        if fault:
            line = services.daemon.audit.entries(event="deny")[-1]
            assert (line["reason"], line["detail"]) == ("method-not-allowed", fault), body
        else:
            arrived += 1
            assert origin.requests[-1].body == json.dumps(body).encode()
    query = json.dumps({"query": "{ a }"})
    assert post(query, kind, "Transfer-Encoding: chunked") == 200
    assert post(query, "Content-Type: application/x-www-form-urlencoded") == 403
    assert post(query, kind, "Content-Encoding: gzip") == 403
    assert post(query, "Content-Type:") == 403
    assert post(query, kind, "Content_Type: application/x-www-form-urlencoded") == 403
    assert post(query, "Content-Type:", kind.replace("-", "_", 1)) == 403
    assert post(query, kind, "Content_Encoding: gzip") == 403
    assert services.curl("api.github.com", "/graphql?query=mutation", "-H", kind, "-d", query)[0] == 403
    assert post(json.dumps({"query": "{ a }", "variables": {"x": "y" * 70000}}), kind) == 413
    assert len(origin.requests) == arrived + 1


def test_the_line_names_the_host_and_the_entry(world):
    world.origin = world.tls_origin("a.test")
    world.agent("alpha", can=["git:fetch a.test/acme/app"])
    proxy = world.start()
    Inside(world, proxy).get("/acme/app/info/refs?service=git-upload-pack")
    number = next(at for at, line in enumerate(proxy.config.read_text().splitlines(), 1)
                  if line.startswith("can ="))
    assert proxy.audit.only(event="open")["rule"] == f"a.test ({proxy.config}:{number})"


def test_an_error_in_an_entry_refuses_the_config_with_its_line(world):
    world.agent("alpha", can=["github:read acme/../x"])
    proxy = world.proxy()
    proxy.write_config()
    done = stile("check", proxy.config)
    assert done.code == 1
    assert "agent.can: 'acme/../x' is not an owner and a name like acme/app or acme/*" in done.err


def test_check_shows_what_a_capability_stands_for(world):
    world.agent("alpha", can=["github:read acme/app"])
    proxy = world.proxy()
    proxy.write_config()
    done = stile("check", "--effective", proxy.config)
    assert done.code == 0, done.err
    assert 'can = ["github:read acme/app"]' in done.out
    assert '#   {host = "codeload.github.com", methods = ["GET", "HEAD"]' in done.out


def test_stile_can_lists_and_shows(tmp_path):
    listed = stile("can").out
    assert "git:push HOST/PATH REF..." in listed and "npm:install" in listed
    shown = stile("can", "github:read", "acme/app")
    assert shown.code == 0 and "/repos/acme/app/**" in shown.out
    assert "It cannot prevent:" in shown.out and 'header = "Authorization"' in shown.out
    assert 'stile run --can "github:read acme/app" -- COMMAND' in shown.out
    assert "\\x" not in shown.out  # a character that the texts must not have
    none = stile("can", env=environment(STILE_CAPABILITIES=str(tmp_path)))
    assert none.code == 1 and f"there are no capabilities in {tmp_path}" in none.err
    found = json.loads(stile("can", "git:push", "--json").out)
    assert found["usage"] == "git:push HOST/PATH REF..." and len(found["requests"]) == 2
    names = [one["name"] for one in json.loads(stile("can", "--json").out)["capabilities"]]
    assert names == sorted(names) and len(names) == 15
    wrong = stile("can", "github:reed")
    assert (wrong.code, wrong.err) == (
        1, "stile: there is no capability 'github:reed'; did you mean github:read?\n  next: stile can\n")
    assert stile("can", "github:read", "../x").code == 1


def test_a_card_can_have_capabilities(world):
    world.origin = world.tls_origin("a.test")
    address = world.site.new_agent_address()
    world.addresses["beta"] = address
    proxy = world.start()
    card = {"agent_id": "beta", "source": [address], "can": ["git:fetch a.test/acme/app"]}
    proxy.control().do("put-agent", card=card)
    inside = Inside(world, proxy, agent="beta")
    assert inside.get("/acme/app/info/refs?service=git-upload-pack").status == 200
    assert inside.get("/acme/app").reason == "path-not-allowed"
    card["can"] = ["git:fetch a.test/*"]
    error = proxy.control().refused("put-agent", card=card)
    assert "is not a host and a path" in error["message"]


def test_every_shipped_file_is_listed_in_the_documents():
    root = Path(os.path.abspath(__file__)).parents[2]
    text = (root / "docs/capabilities.md").read_text()
    for one in json.loads(stile("can", "--json").out)["capabilities"]:
        assert f"| `{one['usage']}` |" in text
