"""DNS packets as bytes: the little that a test server has to read and write (RFC 1035)."""

import ipaddress
import struct
from dataclasses import dataclass, field

A, NS, CNAME, SOA, TXT, AAAA, OPT = 1, 2, 5, 6, 16, 28, 41
NOERROR, FORMERR, SERVFAIL, NXDOMAIN, REFUSED = 0, 1, 2, 3, 5


@dataclass
class Record:
    owner: str
    rtype: int
    ttl: int
    rdata: bytes
    rclass: int = 1


@dataclass
class Question:
    id: int
    name: str  # in the letters that were sent
    rtype: int
    raw: bytes
    has_edns: bool = False

    @property
    def key(self):
        return self.name.lower().rstrip(".")


@dataclass
class Reply:
    """A response; whatever is left None is copied from the question."""

    answers: list = field(default_factory=list)
    authority: list = field(default_factory=list)
    additional: list = field(default_factory=list)
    rcode: int = NOERROR
    truncated: bool = False
    id: int = None
    name: str = None
    rtype: int = None
    question_count: int = 1
    is_response: bool = True

    def encode(self, question):
        flags = (0x8000 if self.is_response else 0) | 0x0180 | self.rcode
        if self.truncated:
            flags |= 0x0200
        name = question.name if self.name is None else self.name
        rtype = question.rtype if self.rtype is None else self.rtype
        packet = struct.pack(
            "!6H", question.id if self.id is None else self.id, flags, self.question_count,
            len(self.answers), len(self.authority), len(self.additional))
        for _ in range(self.question_count):
            packet += encode_name(name) + struct.pack("!2H", rtype, 1)
        for record in self.answers + self.authority + self.additional:
            packet += encode_name(record.owner)
            packet += struct.pack("!2HIH", record.rtype, record.rclass, record.ttl,
                                  len(record.rdata))
            packet += record.rdata
        return packet


def encode_name(name):
    out = b""
    for label in name.rstrip(".").split("."):
        if label:
            raw = label.encode("latin-1")
            out += bytes([len(raw)]) + raw
    return out + b"\0"


def decode_name(packet, at):
    labels = []
    while packet[at]:
        size = packet[at]
        if size >= 0xC0:
            raise ValueError("compressed name in a question")
        labels.append(packet[at + 1:at + 1 + size].decode("latin-1"))
        at += 1 + size
    return ".".join(labels), at + 1


def parse_question(packet):
    ident, _, qdcount, _, _, arcount = struct.unpack("!6H", packet[:12])
    if qdcount != 1:
        raise ValueError("a query with other than one question")
    name, at = decode_name(packet, 12)
    rtype, _ = struct.unpack("!2H", packet[at:at + 4])
    return Question(ident, name, rtype, packet, arcount > 0)


def address_record(owner, address, ttl=60):
    ip = ipaddress.ip_address(address)
    return Record(owner, A if ip.version == 4 else AAAA, ttl, ip.packed)


def cname_record(owner, target, ttl=60):
    return Record(owner, CNAME, ttl, encode_name(target))


def soa_record(zone, ttl=60, minimum=60):
    rdata = encode_name("ns." + zone) + encode_name("root." + zone)
    return Record(zone, SOA, ttl, rdata + struct.pack("!5I", 1, 3600, 600, 86400, minimum))
