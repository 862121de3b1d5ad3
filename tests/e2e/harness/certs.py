"""Certificates for the names below .test, made once per run."""

import datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

# Clients do not take a wildcard directly below a top-level name, hence the letters.
NAMES = [f"{letter}.test" for letter in "abcdefghijklmnopqrstuvwxyz"]
NAMES += ["good.test", "example.test", "*.example.test", "*.deep.example.test"]
# The hosts of capabilities: in a test they are on loopback.
NAMES += ["deb.debian.org", "registry.npmjs.org", "pypi.org", "files.pythonhosted.org",
          "api.github.com", "codeload.github.com", "index.crates.io", "static.crates.io",
          "proxy.golang.org", "auth.docker.io", "registry-1.docker.io",
          "production.cloudflare.docker.com", "huggingface.co", "cdn-lfs-us-1.hf.co",
          "api.anthropic.com"]
# And of agents.
NAMES += ["api.openai.com", "chatgpt.com", "generativelanguage.googleapis.com", "models.dev",
          "models.opencode.ai"]


class Certificates:
    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.ca_file = str(folder / "ca.pem")
        self.chain_file = str(folder / "origin.pem")
        self.key_file = str(folder / "origin.key")
        ca_key = ec.generate_private_key(ec.SECP256R1())
        ca_name = _name("Stile test CA")
        ca = _builder(ca_name, ca_name, ca_key.public_key()).add_extension(
            x509.BasicConstraints(ca=True, path_length=0), critical=True
        ).sign(ca_key, hashes.SHA256())
        key = ec.generate_private_key(ec.SECP256R1())
        leaf = _builder(_name("origin.test"), ca_name, key.public_key()).add_extension(
            x509.SubjectAlternativeName([x509.DNSName(name) for name in NAMES]), critical=False
        ).sign(ca_key, hashes.SHA256())
        _write(self.ca_file, ca.public_bytes(serialization.Encoding.PEM))
        _write(self.chain_file, leaf.public_bytes(serialization.Encoding.PEM))
        _write(self.key_file, key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption()))


def _name(text):
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _builder(subject, issuer, public_key):
    now = datetime.datetime.utcnow()
    return (x509.CertificateBuilder().subject_name(subject).issuer_name(issuer)
            .public_key(public_key).serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=2)))


def _write(path, data):
    with open(path, "wb") as file:
        file.write(data)
