"""Real clients in `stile run` with an opened host: none is told of the CA or holds the key.

The table in docs/inside-tls.md has to say the same:
    STILE_WRITE_MATRIX=1 /usr/bin/python3 -m pytest tests/run/test_inside_clients.py     writes it
"""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

VALUE = "sk-real-value-0123456789"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "inside-tls.md"
BEGIN, END = "<!-- clients, written by the test -->\n", "<!-- end of clients -->\n"
PYTHON = "/usr/bin/python3"
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/sbin"

NODE_HTTPS = """
const https = require("https"), http = require("http");
const proxy = new URL(process.env.HTTPS_PROXY), url = new URL(process.argv[1]);
http.request({host: proxy.hostname, port: proxy.port, method: "CONNECT", path: url.host}).on("connect", (_, socket) =>
  https.get({host: url.hostname, path: "/", headers: {Host: url.host}, socket, agent: false}, answer => {
    answer.resume(); console.log(answer.statusCode);
    answer.on("end", () => process.exit(0)); })).end();
"""
JAVA = """
public class Get {
    public static void main(String[] words) throws Exception {
        var answer = (java.net.HttpURLConnection) new java.net.URL(words[0]).openConnection();
        System.out.println(answer.getResponseCode());
    }
}
"""
JAVA_11 = """
import java.net.http.*;
public class Get {
    public static void main(String[] words) throws Exception {
        var client = HttpClient.newBuilder().proxy(java.net.ProxySelector.getDefault())
            .version(HttpClient.Version.HTTP_1_1).build();
        var answer = client.send(HttpRequest.newBuilder(java.net.URI.create(words[0])).build(),
                                 HttpResponse.BodyHandlers.ofString());
        System.out.println(answer.statusCode());
    }
}
"""

GO = """
package main

import (
	"fmt"
	"net/http"
	"os"
)

func main() {
	answer, err := http.Get(os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(answer.StatusCode)
}
"""
POM = """<project><modelVersion>4.0.0</modelVersion>
<parent><groupId>test.example</groupId><artifactId>parent</artifactId><version>1.0</version></parent>
<artifactId>child</artifactId><packaging>pom</packaging></project>"""
MAVEN_SETTINGS = "<settings><mirrors><mirror><id>m</id><mirrorOf>*</mirrorOf><url>{url}</url></mirror></mirrors></settings>"
# It reads neither variables nor the system's bundle, but the database of its user.
CHROMIUM = """
certutil -d sql:$HOME/.pki/nssdb -N --empty-password && certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n stile \\
  -i $NODE_EXTRA_CA_CERTS && chromium --headless --disable-gpu --no-first-run --user-data-dir=$HOME/profile \\
  --dump-dom "$1" """

# Name, program, what makes it trust the CA, its command. The last word is the URL; 200 is printed.
CLIENTS = [
    ("curl", "curl", "`CURL_CA_BUNDLE`", ["curl", "-q", "-sS", "-o", "/dev/null", "-w", "%{http_code}"]),
    ("wget", "wget", "the system's bundle", ["wget", "-t1", "-S", "-O", "/dev/null"]),
    ("git", "git", "`GIT_SSL_CAINFO`", ["git", "ls-remote"]),
    ("openssl s_client", "openssl", "`SSL_CERT_FILE`", None),
    ("Python urllib", PYTHON, "`SSL_CERT_FILE`",
     [PYTHON, "-c", "import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).status)"]),
    ("Python requests", PYTHON, "`REQUESTS_CA_BUNDLE`",
     [PYTHON, "-c", "import sys, requests; print(requests.get(sys.argv[1]).status_code)"]),
    ("Python httpx", PYTHON, "`SSL_CERT_FILE`",
     [PYTHON, "-c", "import sys, httpx; print(httpx.get(sys.argv[1]).status_code)"]),
    ("Python aiohttp", PYTHON, "`SSL_CERT_FILE`",
     [PYTHON, "-c", "import sys, asyncio, aiohttp\nasync def main():\n"
      " async with aiohttp.ClientSession(trust_env=True) as s, s.get(sys.argv[1]) as a: print(a.status)\n"
      "asyncio.run(main())"]),
    ("pip", PYTHON, "`PIP_CERT`",
     [PYTHON, "-m", "pip", "--isolated", "--no-cache-dir", "--disable-pip-version-check", "download", "--retries", "0",
      "--no-deps", "-d", "/tmp", "tiny", "--index-url"]),
    ("Node https", "node", "`NODE_EXTRA_CA_CERTS`", ["node", "-e", NODE_HTTPS]),
    ("Node fetch", "node", "`NODE_EXTRA_CA_CERTS`",
     ["node", "-e", "fetch(process.argv[1]).then(answer => console.log(answer.status))"]),
    ("Ruby", "ruby", "`SSL_CERT_FILE`",
     ["ruby", "-e", "require 'net/http'; puts Net::HTTP.get_response(URI(ARGV[0])).code"]),
    ("PHP", "php", "the system's bundle", None),
    ("Perl LWP", "perl", "the system's bundle",
     ["perl", "-MLWP::UserAgent", "-e", "my $u = LWP::UserAgent->new; $u->env_proxy; print $u->get($ARGV[0])->code"]),
    ("npm", "npm", "`NODE_EXTRA_CA_CERTS`",
     ["npm", "view", "tiny", "--fetch-retries", "0", "--no-update-notifier", "--registry"]),
    ("Go net/http", "go", "`SSL_CERT_FILE`", ["./get"]),
    ("maven", "mvn", "`JAVA_TOOL_OPTIONS`", None),
    ("Chromium", "chromium", "`certutil -A -t C,, -n stile -i $NODE_EXTRA_CA_CERTS` in `~/.pki/nssdb`",
     ["sh", "-e", "-c", "mkdir -p $HOME/.pki/nssdb\n" + CHROMIUM, "sh"]),
    ("Java URLConnection", "javac", "`JAVA_TOOL_OPTIONS`", ["java", "-Xshare:auto", "Get.java"]),
    ("Java HttpClient", "javac", "`JAVA_TOOL_OPTIONS`", ["java", "-Xshare:auto", "Get11.java"]),
]
OPTIONAL = {"node", "npm", "javac", "go", "mvn", "chromium"}  # not in the list of packages, because of their size
NO_REPOSITORY = {"git", "pip", "npm", "maven"}  # what the origin is not; that the request came is enough


def command_of(name, command, fence):
    if name == "openssl s_client":
        return ["sh", "-c", f"printf 'GET / HTTP/1.0\\r\\nHost: a.test:{fence.world.port}\\r\\n\\r\\n' | openssl s_client"
                f" -proxy 127.0.0.1:3128 -connect a.test:{fence.world.port} -servername a.test -quiet"
                " -verify_return_error -ign_eof"]
    if name == "maven":
        fence.write("pom.xml", POM)
        fence.write("settings.xml", MAVEN_SETTINGS.format(url=fence.url))
        return ["mvn", "-B", "-s", "settings.xml", "-Dmaven.repo.local=/tmp/m2", "validate"]
    if name == "Go net/http":
        compile_go(fence)
    if name == "PHP":
        return ["php", "-r", f"""
            $proxy = ['proxy' => 'tcp://127.0.0.1:3128', 'request_fulluri' => false];
            file_get_contents('{fence.url}', false, stream_context_create(['http' => $proxy]));
            echo $http_response_header[0];"""]
    return [*command, fence.url]


def compile_go(fence):
    fence.write("get.go", GO)
    with tempfile.TemporaryDirectory() as cache:
        subprocess.run(["go", "build", "-o", fence.folder / "get", fence.folder / "get.go"], check=True, env={
            "PATH": PATH, "HOME": cache, "GOCACHE": cache, "CGO_ENABLED": "0", "GO111MODULE": "off"})
    (fence.folder / "get").chmod(0o755)


def has_fetch_through_a_proxy():
    """Node 24 reads the proxy variables; Debian's does not."""
    version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=False).stdout
    return int((re.match(r"v(\d+)", version) or [0, 0])[1]) >= 24


@pytest.fixture
def keyed(user_fence):
    fence = user_fence
    fence.origin = fence.world.tls_origin("a.test")
    fence.url = f"https://a.test:{fence.world.port}/"
    key = fence.write("key", VALUE + "\n", 0o600)
    fence.write("Get.java", JAVA)
    fence.write("Get11.java", JAVA_11)
    fence.flags = ["--allow", "a.test", "--secret", f"api={key}:a.test:X-Api-Key"]
    return fence


@pytest.mark.parametrize("name, program, trusts, command", CLIENTS, ids=[row[0] for row in CLIENTS])
def test_client_works_with_an_opened_host(keyed, name, program, trusts, command):
    assert trusts
    if not shutil.which(program, path=PATH):
        assert program in OPTIONAL, f"{program} is missing: scripts/packages test"
        pytest.skip(f"{program} is not installed")
    if name == "Chromium" and not shutil.which("certutil", path=PATH):
        pytest.skip("certutil is not installed: make programs-test does it")
    if name == "Node fetch" and not has_fetch_through_a_proxy():
        pytest.skip("this Node's fetch does not read HTTPS_PROXY")
    done = keyed.run(*keyed.flags, command=command_of(name, command, keyed), seconds=120)
    assert keyed.origin.requests, done
    assert keyed.origin.requests[0].values("x-api-key") == [VALUE], done
    if name == "Chromium":
        assert ">ok</pre>" in done.out, done
    elif name not in NO_REPOSITORY:
        assert "200" in done.out + done.err, done
    assert VALUE not in done.out + done.err


def table():
    rows = ["| client | trusts the CA because of |\n", "|---|---|\n"]
    return "".join([*rows, *[f"| {name} | {trusts} |\n" for name, _, trusts, _ in CLIENTS]])


def test_the_page_has_the_same_table():
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    written, _, after = rest.partition(END)
    if os.environ.get("STILE_WRITE_MATRIX"):
        PAGE.write_text(before + BEGIN + table() + END + after)
    else:
        assert written == table()
