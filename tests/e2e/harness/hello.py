"""TLS handshake messages as raw bytes: hellos that no library would send, and their records."""

import os
import ssl
import struct

HANDSHAKE, ALERT, CHANGE_CIPHER_SPEC, APPLICATION_DATA = 22, 21, 20, 23
SERVER_NAME, SUPPORTED_GROUPS, KEY_SHARE, SUPPORTED_VERSIONS = 0, 10, 51, 43
SIGNATURE_ALGORITHMS, PADDING, ECH = 13, 21, 0xFE0D
RETRY_RANDOM = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")
ACCESS_DENIED = b"\x15\x03\x03\x00\x02\x02\x31"


def extension(kind, body):
    return struct.pack("!2H", kind, len(body)) + body


def server_name(*names, kind=0):
    """The server_name extension with these host names (str or bytes)."""
    entries = b""
    for name in names:
        raw = name.encode() if isinstance(name, str) else name
        entries += bytes([kind]) + struct.pack("!H", len(raw)) + raw
    return extension(SERVER_NAME, struct.pack("!H", len(entries)) + entries)


def usual_extensions():
    share = os.urandom(32)
    return [
        extension(SUPPORTED_GROUPS, struct.pack("!3H", 4, 29, 23)),
        extension(SIGNATURE_ALGORITHMS, struct.pack("!3H", 4, 0x0403, 0x0804)),
        extension(SUPPORTED_VERSIONS, b"\x02\x03\x04"),
        extension(KEY_SHARE, struct.pack("!3H", 36, 29, 32) + share),
    ]


def client_hello(sni=None, extensions=None, extra=(), padding=0, ciphers=b"\x13\x01"):
    """A ClientHello message without records; `extra` is extensions beside the usual ones."""
    chosen = [server_name(sni)] if sni is not None else []
    chosen += usual_extensions() if extensions is None else list(extensions)
    chosen += list(extra)
    if padding:
        chosen.append(extension(PADDING, bytes(padding)))
    block = b"".join(chosen)
    body = (b"\x03\x03" + os.urandom(32) + b"\x20" + os.urandom(32)
            + struct.pack("!H", len(ciphers)) + ciphers + b"\x01\x00"
            + struct.pack("!H", len(block)) + block)
    return handshake(1, body)


def handshake(kind, body):
    return bytes([kind]) + struct.pack("!I", len(body))[1:] + body


def record(payload, kind=HANDSHAKE, version=0x0301):
    return struct.pack("!BHH", kind, version, len(payload)) + payload


def records(message, *sizes):
    """Cuts a message into records of these sizes; what is left goes into records of 16 KiB."""
    out, at = b"", 0
    for size in sizes:
        if at >= len(message):
            break
        out += record(message[at:at + size])
        at += size
    while at < len(message):
        out += record(message[at:at + 16384])
        at += 16384
    return out


def hello_for(name, **options):
    """A whole ClientHello in one record."""
    return records(client_hello(name, **options))


def real_hello(name):
    """What OpenSSL sends through Python for that server name (None: without one)."""
    context = ssl.create_default_context()
    context.check_hostname = False
    outgoing = ssl.MemoryBIO()
    tls = context.wrap_bio(ssl.MemoryBIO(), outgoing, server_hostname=name)
    try:
        tls.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def ech_extension():
    """An outer encrypted_client_hello (type 0, one suite, a random key and payload)."""
    body = (b"\x00" + struct.pack("!2H", 1, 1) + b"\x07" + struct.pack("!H", 32) + os.urandom(32)
            + struct.pack("!H", 64) + os.urandom(64))
    return extension(ECH, body)


def session_id(client_hello_record):
    """The legacy session id, which a TLS 1.3 server has to echo."""
    size = client_hello_record[43]
    return client_hello_record[44:44 + size]


def hello_retry_request(echo=b""):
    """A ServerHello with the retry random, asking for secp256r1, in one record."""
    block = (extension(SUPPORTED_VERSIONS, b"\x03\x04")
             + extension(KEY_SHARE, struct.pack("!H", 23)))
    body = (b"\x03\x03" + RETRY_RANDOM + bytes([len(echo)]) + echo + b"\x13\x01" + b"\x00"
            + struct.pack("!H", len(block)) + block)
    return record(handshake(2, body), version=0x0303)


def server_hello():
    """An ordinary ServerHello in one record."""
    block = (extension(SUPPORTED_VERSIONS, b"\x03\x04")
             + extension(KEY_SHARE, struct.pack("!2H", 29, 32) + os.urandom(32)))
    body = (b"\x03\x03" + os.urandom(32) + b"\x00" + b"\x13\x01" + b"\x00"
            + struct.pack("!H", len(block)) + block)
    return record(handshake(2, body), version=0x0303)
