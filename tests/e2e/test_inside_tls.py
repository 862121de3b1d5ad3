"""Opened tunnels: TLS itself under attack, and the requests inside one after the other."""

import datetime
import ssl
import subprocess
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from harness.checks import assert_untouched
from harness.cli import stile
from harness.inside import Inside, try_tls
from harness.tls_wire import open_wire
from harness.wait import until

VALUE = "sk-real-value-0123456789"
PLACEHOLDER = "sk-placeholder-1"
VERSIONS = [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3]


@pytest.fixture
def opened(world):
    world.origin = world.tls_origin("a.test")
    world.other = world.tls_origin("b.test")
    world.secret("api", VALUE, ["a.test"], header="X-Api-Key", placeholder=PLACEHOLDER)
    world.agent("alpha", allow=["a.test"], secrets=["api"], request=[{"host": "b.test", "methods": ["*"]}])
    return world


def request(world, target="/", host="a.test", more=b"", method="GET"):
    return f"{method} {target} HTTP/1.1\r\nHost: {host}:{world.port}\r\n".encode() + more + b"\r\n"


@pytest.mark.parametrize("version", VERSIONS)
def test_pipelined_requests_are_answered_in_order_and_decided_one_by_one(opened, version):
    proxy = opened.start()
    client = open_wire(proxy, "a.test", opened.port, version=version)
    client.send(request(opened, "/1") + request(opened, "/2", host="b.test") + request(opened, "/3")
                + request(opened, f"/{PLACEHOLDER}") + request(opened, "/4"))
    answers = [client.read_response() for _ in range(5)]
    assert [answer.reason for answer in answers] == [
        None, "host-mismatch", None, "placeholder-misplaced", None]
    assert opened.origin.paths() == ["/1", "/3", "/4"]
    assert_untouched(opened.other)
    assert all(one.values("x-api-key") == [VALUE] for one in opened.origin.requests)


@pytest.mark.parametrize("version", VERSIONS)
def test_a_record_may_be_cut_anywhere(opened, version):
    client = open_wire(opened.start(), "a.test", opened.port, version=version)
    records = client.sock.records(request(opened, "/1"))
    for at in range(len(records)):
        client.sock.sock.sendall(records[at:at + 1])
    assert client.read_response().status == 200


@pytest.mark.parametrize("version", VERSIONS)
def test_a_body_that_is_cut_without_an_end_of_tls_never_looks_whole(opened, version):
    """FIN without close_notify: somebody on the way can send it, so it ends nothing."""
    proxy = opened.start()
    half = b"half" * 25000  # more than is held before anything goes to the origin
    framings = [(b"Content-Length: 200000\r\n", half),
                (b"Transfer-Encoding: chunked\r\n", b"%x\r\n%b\r\n" % (len(half), half))]
    for count, (framing, body) in enumerate(framings, 1):
        client = open_wire(proxy, "a.test", opened.port, version=version)
        client.send(request(opened, "/", more=framing, method="POST") + body)
        until(lambda: len(opened.origin.requests) == count)
        client.sock.cut()
        proxy.audit.wait_count(count, event="close", verdict="deny")
        client.close()
        assert not any(one.complete for one in opened.origin.requests)


@pytest.mark.parametrize("version", VERSIONS)
def test_an_announced_end_still_gets_its_answer(opened, version):
    client = open_wire(opened.start(), "a.test", opened.port, version=version)
    client.send(request(opened, "/1"))
    client.half_close()
    assert client.read_response().status == 200


def test_damaged_records_end_the_connection_and_reach_nobody(opened):
    proxy = opened.start()
    for damage in (lambda records: records[:-1] + bytes([records[-1] ^ 1]),
                   lambda records: b"\x17\x03\x03\xff\xff" + records[5:],
                   lambda records: b"GET / HTTP/1.1\r\n\r\n", lambda records: b"\x17\x03\x03\x00\x00"):
        client = open_wire(proxy, "a.test", opened.port)
        client.sock.sock.sendall(damage(client.sock.records(request(opened, "/1"))))
        client.sock.cut()
        assert client.recv_to_end() == b""
        client.close()
    assert_untouched(opened.origin)
    assert Inside(opened, proxy).get("/1").status == 200


def test_a_client_cannot_renegotiate(opened):
    proxy = opened.start()
    proxy.ca_file = proxy.stile_ca
    done = proxy.s_client(f"a.test:{opened.port}", "-tls1_2", servername="a.test",
                          data=b"R\n" + request(opened, "/after"))
    assert "no renegotiation" in done.err and "/after" not in opened.origin.paths(), done


def test_no_ticket_allows_early_data(opened, tmp_path):
    proxy = opened.start()
    session = tmp_path / "session"
    proxy.ca_file = proxy.stile_ca
    proxy.s_client(f"a.test:{opened.port}", "-tls1_3", "-ign_eof", "-sess_out", str(session), servername="a.test",
                   data=request(opened, "/1", more=b"Connection: close\r\n"))
    text = subprocess.run(["openssl", "sess_id", "-in", session, "-noout", "-text"],
                          capture_output=True, check=True).stdout.decode()
    assert "Max Early Data: 0" in text


def test_a_resumed_connection_is_judged_like_any_other(opened):
    proxy = opened.start()
    context = ssl.create_default_context(cafile=proxy.stile_ca)

    def connect(session=None):
        client = proxy.client()
        assert client.connect_to("a.test", opened.port).status == 200
        client.sock = context.wrap_socket(client.sock, server_hostname="a.test", session=session)
        client.send(request(opened, "/1"))
        assert client.read_response().status == 200
        return client
    first = connect()
    again = connect(first.sock.session)
    assert again.sock.session_reused
    again.send(request(opened, "/2", host="b.test"))
    assert again.read_response().reason == "host-mismatch"


def test_the_line_of_a_failed_handshake_comes_before_its_alert(opened):
    """With a log that cannot be written at the moment, no alert leaves."""
    proxy = opened.start()
    for protocols, reason in [(["h2"], "no-application-protocol")]:
        client = proxy.client()
        assert client.connect_to("a.test", opened.port).status == 200
        assert "no application protocol" in str(try_tls(client, "a.test", proxy.stile_ca, protocols=protocols))
        assert proxy.audit.entries(event="deny", reason=reason)  # without a wait: it was there first


# Kept origins.

def test_what_an_origin_says_too_early_is_never_the_answer_to_the_next_request(opened):
    """An origin whose answer has more than one message: the connection is not used again."""
    def two(exchange):
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
                      b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged")
    opened.origin.on("/two", two)
    inside = Inside(opened, opened.start())
    for _ in range(3):
        assert inside.get("/two").body == b"ok"
        assert inside.get("/one").body == b"ok"


def test_many_agents_on_kept_origins_get_their_own_secret(opened):
    opened.secret("beta", "sk-of-beta-0123456789", ["a.test"], header="X-Api-Key")
    opened.agent("beta", allow=["a.test"], secrets=["beta"])
    opened.agent("gamma", request=[{"host": "a.test"}])
    proxy = opened.start()
    expected = {"alpha": [VALUE], "beta": ["sk-of-beta-0123456789"], "gamma": []}
    connections = {agent: Inside(opened, proxy, agent=agent) for agent in expected}
    for turn in range(12):
        for agent in sorted(expected, key=lambda name: hash((name, turn))):
            if turn % 4 == 3:
                connections[agent].client.close()
                connections[agent] = Inside(opened, proxy, agent=agent)
            assert connections[agent].get(f"/{agent}").status == 200
    for one in opened.origin.requests:
        assert one.values("x-api-key") == expected[one.target[1:]], one.target


def test_an_answer_before_the_body_does_not_desynchronise(opened):
    def early(exchange):
        exchange.send(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
        return False
    opened.origin.on("/early", early)
    proxy = opened.start()
    client = open_wire(proxy, "a.test", opened.port)
    client.send(request(opened, "/early", more=b"Content-Length: 81000\r\n", method="POST") + b"x" * 80000)
    assert client.read_response("POST").status == 413
    client.try_send(request(opened, "/smuggled") + b"x" * 900)
    client.recv_to_end()
    assert Inside(opened, proxy).get("/next").status == 200
    assert "/smuggled" not in opened.origin.paths()


# The CA.

def write_ca(folder, days):
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Stile CA of a test")])
    now = datetime.datetime.utcnow()
    made = (x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=days))
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(key, hashes.SHA256()))
    folder.mkdir(exist_ok=True)
    pem = serialization.Encoding.PEM
    (folder / "ca.pem").write_bytes(made.public_bytes(pem))
    (folder / "ca.key").touch(mode=0o600)
    (folder / "ca.key").write_bytes(key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    return (folder / "ca.pem").read_text()


def test_a_successor_is_made_two_years_before_the_end_and_signs_one_year_before_it(opened, tmp_path):
    proxy = opened.proxy()
    folder = Path(proxy.settings["intercept"]["ca"])
    old = write_ca(folder, 700)
    old_file = tmp_path / "old.pem"
    old_file.write_text(old)
    proxy.start()
    assert (folder / "ca.pem").read_text() == old, "the old one still signs"
    successor = (folder / "next.pem").read_text()
    assert stile("ca", proxy.config).out == old + successor
    assert Inside(opened, proxy).get("/1").status == 200
    proxy.stop()
    old = write_ca(folder, 300)  # a year later
    proxy.start()
    assert (folder / "ca.pem").read_text() == successor and (folder / "old.pem").read_text() == old
    assert not (folder / "next.pem").exists()
    assert stile("ca", proxy.config).out == successor + old
    assert Inside(opened, proxy).get("/1").status == 200, "agents that know the successor go on"
