"""A root and a leaf for the bench, ECDSA on P-256."""

import datetime
import ipaddress

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Certificates:
    """Files in `folder`: root.pem and root.key, leaf.pem and leaf.key, both.pem (leaf with its key)."""

    def __init__(self, folder, host, address):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o755)
        self.root, self.root_key = folder / "root.pem", folder / "root.key"
        self.leaf, self.leaf_key = folder / "leaf.pem", folder / "leaf.key"
        self.both = folder / "both.pem"
        self.root_both = folder / "root-both.pem"
        root_key, leaf_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
        root_name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "bench root")])
        root = sign(root_name, root_name, root_key.public_key(), root_key, [
            (x509.BasicConstraints(ca=True, path_length=None), True)])
        leaf = sign(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)]), root_name,
                    leaf_key.public_key(), root_key, [
            (x509.SubjectAlternativeName([x509.DNSName(host), x509.IPAddress(
                ipaddress.ip_address(address))]), False)])
        for path, data in ((self.root, pem(root)), (self.root_key, key_pem(root_key)),
                           (self.leaf, pem(leaf)), (self.leaf_key, key_pem(leaf_key)),
                           (self.both, pem(leaf) + key_pem(leaf_key)),
                           (self.root_both, key_pem(root_key) + pem(root))):
            path.write_bytes(data)
            path.chmod(0o644)  # squid reads them as another user; they are of no use elsewhere


def sign(subject, issuer, public_key, issuer_key, extensions):
    now = datetime.datetime.utcnow()
    builder = (x509.CertificateBuilder().subject_name(subject).issuer_name(issuer)
               .public_key(public_key).serial_number(x509.random_serial_number())
               .not_valid_before(now - datetime.timedelta(days=1))
               .not_valid_after(now + datetime.timedelta(days=30)))
    for extension, critical in extensions:
        builder = builder.add_extension(extension, critical=critical)
    return builder.sign(issuer_key, hashes.SHA256())


def pem(certificate):
    return certificate.public_bytes(serialization.Encoding.PEM)


def key_pem(key):
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                             serialization.NoEncryption())
