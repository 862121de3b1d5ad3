"""Origins of opened hosts: verified as a browser would, or not used."""

import datetime
import ssl
import subprocess
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from harness.checks import assert_denied
from harness.cli import stile
from harness.inside import Inside
from harness.tls_origin import TlsOrigin

DAY = datetime.timedelta(days=1)


def certificate(folder, name="a.test", begin=-1, end=2, issuer=None):
    """Files of a chain and a key; self-signed unless there is an issuer (certificate, key)."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.utcnow()
    made = (x509.CertificateBuilder().subject_name(subject)
            .issuer_name(issuer[0].subject if issuer else subject).public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now + begin * DAY).not_valid_after(now + end * DAY)
            .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
            .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None),
                           critical=True)
            .sign(issuer[1] if issuer else key, hashes.SHA256()))

    class Files:
        chain_file, key_file = str(folder / f"{name}.pem"), str(folder / f"{name}.key")
        pair = made, key
    with open(Files.chain_file, "wb") as file:
        file.write(made.public_bytes(serialization.Encoding.PEM))
    with open(Files.key_file, "wb") as file:
        file.write(key.private_bytes(serialization.Encoding.PEM,
                                     serialization.PrivateFormat.PKCS8,
                                     serialization.NoEncryption()))
    return Files


def origin_with(world, files, **options):
    origin = TlsOrigin(world.new_address(), world.port, files, **options)
    return world._admit(origin, "a.test", True, 60)


def ask(world, proxy):
    return Inside(world, proxy).get("/")


@pytest.fixture
def asking(world, tmp_path):
    world.root = certificate(tmp_path, "root.test")
    world.agent("alpha", request=[{"host": "a.test"}])
    world.tmp = tmp_path
    return world


def start(world):
    return world.start(intercept={"trust": [world.root.chain_file]})


@pytest.mark.parametrize("kind", ["expired", "not yet", "wrong name", "self-signed",
                                  "unknown root"])
def test_a_certificate_that_cannot_be_verified_is_refused(asking, kind):
    world = asking
    issuer = world.root.pair
    files = {
        "expired": lambda: certificate(world.tmp, begin=-3, end=-1, issuer=issuer),
        "not yet": lambda: certificate(world.tmp, begin=1, end=2, issuer=issuer),
        "wrong name": lambda: certificate(world.tmp, "b.test", issuer=issuer),
        "self-signed": lambda: certificate(world.tmp),
        "unknown root": lambda: world.certificates,
    }[kind]
    origin = origin_with(world, files())
    proxy = start(world)
    line = assert_denied(proxy, ask(world, proxy), "origin-certificate")
    assert line["tls"] == "opened" and origin.requests == []
    assert proxy.metrics().total("stile_tls_handshakes_total", side="origin", result="failed") == 1


def test_a_good_certificate_is_accepted_and_its_root_can_be_taken_away(asking):
    world = asking
    origin = origin_with(world, certificate(world.tmp, issuer=world.root.pair))
    proxy = start(world)
    assert ask(world, proxy).status == 200
    proxy.settings["intercept"] = {**proxy.settings["intercept"], "trust": []}
    proxy.write_config()
    with proxy.control() as control:
        control.do("reload")
    origin.close()
    origin_with(world, certificate(world.tmp, issuer=world.root.pair))
    assert Inside(world, proxy).get("/").status == 502


@pytest.mark.parametrize("answer", [b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
                                    b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"],
                         ids=["kept", "dialled again"])
def test_a_root_that_is_taken_away_ends_what_an_open_tunnel_could_reach(asking, answer):
    world = asking
    origin = origin_with(world, certificate(world.tmp, issuer=world.root.pair))
    origin.on("/", answer)
    proxy = start(world)
    inside = Inside(world, proxy)
    for _ in range(2):
        assert inside.get("/").status == 200
    proxy.settings["intercept"] = {**proxy.settings["intercept"], "trust": []}
    proxy.write_config()
    with proxy.control() as control:
        control.do("reload")
    assert_denied(proxy, inside.get("/"), "origin-certificate")
    assert len(origin.requests) == 2


def resuming_origin(world, files):
    """Closes after each answer, and remembers which handshakes resumed a session."""
    resumed = []

    def serve(conn):
        resumed.append(conn.sock.session_reused)
        conn.sock.recv(65536)
        conn.sock.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok")
        conn.sock.unwrap()

    origin_with(world, files, handler=serve)
    return resumed


def test_a_session_with_an_origin_is_resumed_for_the_same_agent_only(asking):
    world = asking
    world.agent("beta", request=[{"host": "a.test"}])
    resumed = resuming_origin(world, certificate(world.tmp, issuer=world.root.pair))
    proxy = start(world)
    for agent in ("alpha", "alpha", "beta", "beta", "alpha"):
        assert Inside(world, proxy, agent=agent).get("/").status == 200
    assert resumed == [False, True, False, True, True]


def test_a_session_ends_with_the_trust_that_it_was_made_under(asking):
    world = asking
    resumed = resuming_origin(world, certificate(world.tmp, issuer=world.root.pair))
    proxy = start(world)
    assert ask(world, proxy).status == 200
    proxy.settings["intercept"] = {**proxy.settings["intercept"], "trust": []}
    proxy.write_config()
    with proxy.control() as control:
        control.do("reload")
    assert_denied(proxy, ask(world, proxy), "origin-certificate")
    assert resumed == [False]


def test_an_old_version_of_tls_is_refused(asking):
    world = asking
    files = certificate(world.tmp, issuer=world.root.pair)
    origin = origin_with(world, files)
    origin._context.set_ciphers("DEFAULT@SECLEVEL=0")
    origin._context.minimum_version = ssl.TLSVersion.TLSv1
    origin._context.maximum_version = ssl.TLSVersion.TLSv1_1
    proxy = start(world)
    assert_denied(proxy, ask(world, proxy), "origin-certificate")


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_both_versions_work_on_both_sides(asking, version):
    world = asking
    origin = origin_with(world, certificate(world.tmp, issuer=world.root.pair))
    origin._context.maximum_version = version
    origin._context.minimum_version = version
    proxy = start(world)
    assert ask(world, proxy).status == 200
    flag = "--tls-max" if version == ssl.TLSVersion.TLSv1_2 else "--tlsv1.3"
    arguments = [flag, "1.2"] if flag == "--tls-max" else [flag]
    proxy.ca_file = proxy.stile_ca
    done = proxy.curl(*arguments, f"https://a.test:{world.port}/")
    assert (done.code, done.status, done.out) == (0, 200, b"ok"), done.err


def test_an_origin_that_stalls_in_its_handshake_times_out(asking):
    world = asking
    world.tcp_origin("a.test")
    proxy = world.start(limits={"connect_timeout_ms": 300})
    assert_denied(proxy, ask(world, proxy), "origin-timeout")


def test_an_origin_that_speaks_no_tls_is_refused(asking):
    world = asking
    world.tcp_origin("a.test", handler=lambda conn: conn.send(b"HTTP/1.1 200 OK\r\n\r\n"))
    proxy = start(world)
    assert_denied(proxy, ask(world, proxy), "origin-certificate")


# The CA.

def test_the_ca_is_kept_over_restarts_and_only_the_daemon_reads_its_key(asking):
    world = asking
    origin_with(world, certificate(world.tmp, issuer=world.root.pair))
    proxy = start(world)
    folder = Path(proxy.settings["intercept"]["ca"])
    first = (folder / "ca.pem").read_bytes()
    assert (folder / "ca.key").stat().st_mode & 0o777 == 0o600
    proxy.stop()
    proxy.start()
    assert (folder / "ca.pem").read_bytes() == first
    assert ask(world, proxy).status == 200
    assert stile("ca", proxy.config).out.encode() == first


def test_an_intermediate_of_the_operators_own_can_be_put_there(asking):
    world = asking
    origin_with(world, certificate(world.tmp, issuer=world.root.pair))
    proxy = world.proxy(intercept={"trust": [world.root.chain_file]})
    folder = world.write("ca/x", "").parent
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Corporate intermediate")])
    now = datetime.datetime.utcnow()
    root, root_key = world.root.pair
    made = (x509.CertificateBuilder().subject_name(subject).issuer_name(root.subject)
            .public_key(key.public_key()).serial_number(x509.random_serial_number())
            .not_valid_before(now - DAY).not_valid_after(now + 2 * DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .sign(root_key, hashes.SHA256()))
    pem = serialization.Encoding.PEM
    (folder / "ca.pem").write_bytes(made.public_bytes(pem) + root.public_bytes(pem))
    (folder / "ca.key").touch(mode=0o600)
    (folder / "ca.key").write_bytes(key.private_bytes(
        pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()))
    proxy.start()
    proxy.ca_file = world.root.chain_file  # clients trust the root alone
    done = proxy.curl(f"https://a.test:{world.port}/")
    assert (done.code, done.status) == (0, 200), done.err


def test_a_ca_that_cannot_be_made_stops_the_start(asking):
    proxy = asking.proxy(intercept={"ca": "/proc/nowhere/ca"})
    proxy.start(wait=False)
    assert proxy.wait_exit() == 1
    assert "intercept.ca" in proxy.log_text()
    proxy.expected_exit = {1}


def test_a_leaf_is_a_good_certificate(asking):
    origin_with(asking, certificate(asking.tmp, issuer=asking.root.pair))
    proxy = start(asking)
    inside = Inside(asking, proxy)
    leaf = inside.client.sock.getpeercert()
    assert leaf["subjectAltName"] == (("DNS", "a.test"),)
    text = subprocess.run(["openssl", "x509", "-in", proxy.stile_ca, "-noout", "-text"],
                          capture_output=True, check=True).stdout.decode()
    assert "CA:TRUE, pathlen:0" in text and "prime256v1" in text
