"""Programs that ignore proxy variables, behind the fence, with real servers: none has a setting for Stile.

The table in docs/compatibility.md has to say the same:
    STILE_WRITE_MATRIX=1 /usr/bin/python3 -m pytest tests/netns/test_captured_programs.py     writes it
"""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lab.host import PATIENCE_SECONDS, PYTHON, ROOT
from lab.servers import POSTGRES, SSHD, Servers
from lab.street import CA_FILE, CONFIG, Street

PAGE = ROOT / "docs" / "compatibility.md"
BEGIN, END = "<!-- programs that know no proxy: written by tests/netns -->\n", "<!-- end of programs -->\n"
SECRET = "sk-real-value-0123456789"
OPENING = f"""
[intercept]
trust = ["{CA_FILE}"]
[[secret]]
name = "api"
file = "/etc/stile/key"
hosts = ["api.example.test"]
header = "X-Api-Key"
"""
CARD = {"agent_id": "alpha", "secrets": ["api"], "ech": ["page.example.test"], "allowed_hosts": [
    ".example.test", "tcp://db.example.test:5432", "tcp://redis.example.test:6379", "tcp://git.example.test:2222",
    "grpc.example.test:50051", "ws.example.test:8443"]}

# What is in the table: the program, what it does, and the pattern that lets it.
ROWS = [
    ("Java HttpClient", "HTTP/2 or HTTP/1.1 over TLS", "`example.com`"),
    ("Java URLConnection", "HTTPS", "`example.com`"),
    ("maven", "a POM from a repository", "`example.com`"),
    ("Go net/http", "HTTPS, with Go's own resolver", "`example.com`"),
    ("psql", "a query", "`tcp://db.example.com:5432`"),
    ("redis-cli", "SET and GET", "`tcp://redis.example.com:6379`"),
    ("gRPC (Python)", "a call and a stream, over TLS", "`example.com:50051`"),
    ("aiohttp", "`wss`", "`example.com:8443`"),
    ("git", "clone over ssh", "`tcp://git.example.com:22`"),
    ("Chromium", "a page whose server offers QUIC", "`example.com`, and `ech` for it"),
]

JAVA = """
import java.net.*;
import java.net.http.*;
public class Get {
    public static void main(String[] words) throws Exception {
        var address = URI.create(words[1]);
        if (words[0].equals("client")) {
            var client = HttpClient.newBuilder().proxy(HttpClient.Builder.NO_PROXY).build();
            var answer = client.send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString());
            System.out.println(answer.statusCode() + " " + answer.body().trim());
        } else {
            var connection = (HttpURLConnection) address.toURL().openConnection(Proxy.NO_PROXY);
            System.out.println(connection.getResponseCode() + " " + new String(connection.getInputStream().readAllBytes()).trim());
        }
    }
}
"""
GO = """
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	client := &http.Client{Transport: &http.Transport{Proxy: nil}}
	answer, err := client.Get(os.Args[1])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	body, _ := io.ReadAll(answer.Body)
	fmt.Println(answer.StatusCode, string(body))
}
"""
POM = """
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<parent><groupId>test.example</groupId><artifactId>parent</artifactId><version>1.0</version></parent>
<artifactId>child</artifactId><packaging>pom</packaging></project>
"""
MAVEN_SETTINGS = """
<settings><mirrors><mirror><id>here</id><mirrorOf>*</mirrorOf><url>https://repo.example.test/maven2</url></mirror></mirrors>
</settings>
"""
GRPC = f"""
import grpc, sys
credentials = grpc.ssl_channel_credentials(open("{CA_FILE}", "rb").read())
with grpc.secure_channel(sys.argv[1], credentials) as channel:
    print(channel.unary_unary("/test.Echo/Say")(b"hello", timeout=20).decode())
    print(*(part.decode() for part in channel.unary_stream("/test.Echo/Count")(b"5", timeout=20)))
"""
WEBSOCKET = f"""
import aiohttp, asyncio, ssl
async def main():
    trusted = ssl.create_default_context(cafile="{CA_FILE}")
    async with aiohttp.ClientSession() as session:
        async with session.ws_connect("wss://ws.example.test:8443/", ssl=trusted) as frames:
            for text in ("one", "two"):
                await frames.send_str(text)
                print((await frames.receive()).data)
asyncio.run(main())
"""


@pytest.fixture(scope="module")
def street():
    place = Street()
    try:
        place.host.write("/etc/stile/key", SECRET)
        place.host.run("chmod", "600", "/etc/stile/key")
        place.host.write("/etc/stile/stile.toml", CONFIG + OPENING)
        place.host.write("/etc/card.json", json.dumps(CARD))
        place.host.run("mkdir", "-p", "/etc/programs")
        place.create("alpha", "--card", "/etc/card.json")
        place.start_daemon()
        place.servers = Servers(place)
        yield place
        place.servers.close()
    finally:
        place.close()


def need(*programs):
    for program in programs:
        if not Path(program).exists() and not shutil.which(program):
            pytest.skip(f"{program} is missing: make programs-test installs it")


def run_inside(street, script, *variables, check=True, **options):
    """As the agent, with these variables only: above all with none of the proxy's."""
    return street.host.tool("exec", "alpha", "--", "env", "-i", "PATH=/usr/bin:/bin", "HOME=/tmp", "LC_ALL=C.UTF-8",
                            *variables, "sh", "-c", script, check=check, **options)


def opened(street, host):
    """The lines of connections or requests to that host that were let through."""
    return [line for line in street.audit() if line["event"] == "open" and line["host"] == host]


def denied(street, host):
    return [(line["method"], line["reason"]) for line in street.audit() if line["event"] == "deny" and line.get("host") == host]


def java_trust(street):
    """A trust store with the origins' CA, as somebody with a company's CA would make it."""
    if not street.host.exists("/etc/programs/trust"):
        street.host.run("keytool", "-importcert", "-noprompt", "-alias", "origins", "-file", CA_FILE, "-keystore",
                        "/etc/programs/trust", "-storepass", "changeit")
        street.host.run("chmod", "644", "/etc/programs/trust")
    return "-Djavax.net.ssl.trustStore=/etc/programs/trust -Djavax.net.ssl.trustStorePassword=changeit"


@pytest.mark.long
@pytest.mark.parametrize("kind", ["client", "connection"])
def test_java(street, kind):
    need("java", "javac")
    street.host.write("/etc/programs/Get.java", JAVA)
    host = f"java-{kind}.example.test"
    trust = java_trust(street)
    done = run_inside(street, f"java {trust} /etc/programs/Get.java {kind} https://{host}/java")
    assert done.stdout == "200 hello\n", done
    line, = opened(street, host)
    assert {"method": "TCP", "port": 443, "sni": host, "agent": "alpha"}.items() <= line.items()
    done = run_inside(street, f"java {trust} /etc/programs/Get.java {kind} https://{kind}.test/", check=False)
    assert done.returncode != 0 and "java.net" in done.stderr, done  # UnknownHost or Connect
    assert denied(street, f"{kind}.test") == [("DNS", "host-not-allowed")]  # one line a minute


@pytest.mark.long
@pytest.mark.parametrize("kind", ["client", "connection"])
def test_java_gets_its_credential_without_knowing_of_proxy_or_key(street, kind):
    need("java", "javac")
    street.host.write("/etc/programs/Get.java", JAVA)
    before = len(street.events("request"))
    done = street.host.tool("exec", "alpha", "--", "java", "/etc/programs/Get.java", kind,
                            "https://api.example.test/v1/keyed")
    assert done.stdout == "200 hello\n", done
    request = street.events("request")[before]
    assert f"\r\nX-Api-Key: {SECRET}\r\n" in request["head"]
    assert SECRET not in done.stdout + done.stderr
    line = opened(street, "api.example.test")[-1]
    assert {"method": "GET", "scheme": "https", "path": "/v1/keyed", "tls": "opened", "secret": "api"}.items() <= line.items()


@pytest.mark.long
def test_maven(street):
    need("mvn", "javac")
    street.host.write("/etc/programs/pom.xml", POM)
    street.host.write("/etc/programs/settings.xml", MAVEN_SETTINGS)
    done = run_inside(street, "mkdir /tmp/m && cp /etc/programs/pom.xml /tmp/m && cd /tmp/m && "
                      "mvn -B -s /etc/programs/settings.xml -Dmaven.repo.local=/tmp/m2 validate",
                      f"MAVEN_OPTS={java_trust(street)}")
    assert "BUILD SUCCESS" in done.stdout, done.stdout
    paths = [event["path"] for event in street.events("request") if event["sni"] == "repo.example.test"]
    assert "/maven2/test/example/parent/1.0/parent-1.0.pom" in paths
    assert {line["method"] for line in opened(street, "repo.example.test")} == {"TCP"}


@pytest.mark.long
def test_go(street):
    need("go")
    folder = Path(street.folder.name)
    (folder / "get.go").write_text(GO)
    subprocess.run(["go", "build", "-o", folder / "get", folder / "get.go"], check=True, env={
        "PATH": os.environ["PATH"], "HOME": str(folder), "GOCACHE": str(folder / "cache"), "CGO_ENABLED": "0",
        "GO111MODULE": "off"})
    street.host.run("install", "-m", "755", folder / "get", "/etc/programs/get")
    done = run_inside(street, "/etc/programs/get https://go.example.test/", f"SSL_CERT_FILE={CA_FILE}")
    assert done.stdout == "200 hello\n\n", done
    assert opened(street, "go.example.test")[0]["method"] == "TCP"
    done = run_inside(street, "/etc/programs/get https://other-go.test/", check=False)
    assert "no such host" in done.stdout, done
    # An opened host as well: trust comes from the variables of exec.
    done = street.host.tool("exec", "alpha", "--", "/etc/programs/get", "https://api.example.test/from-go")
    assert done.stdout == "200 hello\n\n", done
    assert f"X-Api-Key: {SECRET}" in street.events("request")[-1]["head"]


@pytest.mark.long
def test_psql(street):
    if not POSTGRES.exists():
        pytest.skip("PostgreSQL is missing: make programs-test installs it")
    street.servers.postgres()
    done = run_inside(street, "psql -X -A -t -h db.example.test -U postgres -c 'select 6 * 7, version()'")
    assert done.stdout.startswith("42|PostgreSQL"), done
    line = opened(street, "db.example.test")[0]
    assert {"method": "TCP", "port": 5432}.items() <= line.items() and "sni" not in line
    done = run_inside(street, "psql -X -h other-db.example.test -U postgres -c 'select 1'", check=False)
    assert done.returncode != 0  # its name is allowed, its port is not
    assert denied(street, "other-db.example.test") == [("TCP", "port-not-allowed")]


def test_redis(street):
    need("redis-server", "redis-cli")
    street.servers.redis()
    done = run_inside(street, "redis-cli -h redis.example.test set colour green; redis-cli -h redis.example.test get colour")
    assert done.stdout.split() == ["OK", "green"], done
    assert len(opened(street, "redis.example.test")) == 2


def test_grpc(street):
    if subprocess.run([PYTHON, "-c", "import grpc"], capture_output=True).returncode != 0:
        pytest.skip("python3-grpcio is missing: scripts/packages test")
    street.servers.grpc()
    street.host.write("/etc/programs/grpc_client.py", GRPC)
    done = run_inside(street, f"{PYTHON} /etc/programs/grpc_client.py grpc.example.test:50051")
    assert done.stdout.splitlines() == ["heard hello", "0 1 2 3 4"], done
    assert {"method": "TCP", "port": 50051, "sni": "grpc.example.test"}.items() <= opened(street, "grpc.example.test")[0].items()


def test_wss(street):
    street.servers.websocket()
    street.host.write("/etc/programs/websocket_client.py", WEBSOCKET)
    done = run_inside(street, f"{PYTHON} /etc/programs/websocket_client.py")
    assert done.stdout.splitlines() == ["heard one", "heard two"], done
    assert opened(street, "ws.example.test")[0]["method"] == "TCP"


def test_git_over_ssh(street):
    need(SSHD, "git", "ssh")
    repository, key = street.servers.git_over_ssh()
    street.host.write("/etc/programs/key", key)
    done = run_inside(street, f"""
        install -m 600 /etc/programs/key /tmp/key
        export GIT_SSH_COMMAND='ssh -F none -i /tmp/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null'
        git clone -q ssh://root@git.example.test:2222{repository} /tmp/clone && git -C /tmp/clone log --format=%s""")
    assert done.stdout == "over ssh\n", done
    assert {"method": "TCP", "port": 2222}.items() <= opened(street, "git.example.test")[0].items()


@pytest.mark.long
def test_chromium_falls_back_from_quic(street):
    """The answer with the page offers QUIC. For the part it tries that, is refused at once, and uses TCP again."""
    need("chromium", "certutil")
    # Its own sandbox cannot be made by root, here as elsewhere. It takes an offer only from a server that it trusts.
    trust = (f"mkdir -p /tmp/.pki/nssdb && certutil -d sql:/tmp/.pki/nssdb -N --empty-password &&"
             f" certutil -d sql:/tmp/.pki/nssdb -A -t C,, -n origins -i {CA_FILE}")
    command = ("chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir=/tmp/profile"
               " --enable-quic --no-first-run --log-net-log=/tmp/net.json --virtual-time-budget=20000 --dump-dom"
               " https://page.example.test/page")
    before = street.host.agents()["alpha"]["refused_packets"]
    done = run_inside(street, f"{trust} && {command} && grep -o 'quic :443, expires .* (broken until' /tmp/net.json >&2")
    assert ", and its part</body>" in done.stdout, done
    assert "broken until" in done.stderr  # it tried, and will not for a while
    assert street.host.agents()["alpha"]["refused_packets"] > before
    lines = opened(street, "page.example.test")
    assert lines and {line["method"] for line in lines} == {"TCP"}
    assert {"/page", "/part"} <= {event["path"] for event in street.events("request") if event["sni"] == "page.example.test"}
    # Told to use nothing but QUIC, it is refused and does not wait.
    before = street.host.agents()["alpha"]["refused_packets"]
    done = run_inside(street, f"{trust} && {command} --origin-to-force-quic-on=page.example.test:443", timeout=PATIENCE_SECONDS)
    assert "its part" not in done.stdout
    assert street.host.agents()["alpha"]["refused_packets"] > before


def table():
    rows = ["| program | what it does | allowed by |\n", "|---|---|---|\n"]
    return "".join([*rows, *[f"| {' | '.join(row)} |\n" for row in ROWS]])


def test_the_page_has_the_same_table():
    before, _, rest = PAGE.read_text().partition(BEGIN)
    written, _, after = rest.partition(END)
    if os.environ.get("STILE_WRITE_MATRIX"):
        PAGE.write_text(before + BEGIN + table() + END + after)
    else:
        assert written == table()
