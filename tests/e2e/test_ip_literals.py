"""Addresses in the place of a name are refused in every spelling, before anything resolves them."""

import ipaddress

import pytest
from harness.checks import assert_denied, assert_refusal, assert_untouched

pytestmark = pytest.mark.hostile_bytes


def spellings(address):
    """Every way to write this IPv4 address that some resolver or URL parser takes for it."""
    a, b, c, d = (int(part) for part in address.split("."))
    whole = int(ipaddress.ip_address(address))
    low24, low16 = whole & 0xFFFFFF, whole & 0xFFFF
    six = f"{a:02x}{b:02x}:{c:02x}{d:02x}"
    return [
        address, address + ".", f"{whole}", f"{whole}.", f"0x{whole:x}", f"0X{whole:X}",
        f"0{whole:o}", f"{a}.{low24}", f"{a}.{b}.{low16}", f"0x{a:x}.{low24}",
        f"0{a:o}.0x{low24:x}", f"0{a:o}.0{b:o}.0{c:o}.0{d:o}", f"0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}",
        f"0x{a:x}.{b}.{c}.{d}", f"{a}.{b}.{c}.0x{d:x}", f"000000{a:o}.{b}.{c}.{d}",
        f"{a:03d}.{b:03d}.{c:03d}.{d:03d}", f"0x{whole:016x}", f"{whole + 2**32}",
        f"[::ffff:{address}]", f"[::ffff:{six}]", f"[::{address}]", f"[64:ff9b::{address}]",
        f"[2002:{six}::1]", f"[{address}]", f"[::ffff:0:{address}]",
    ]


# Nothing that names the origin, but everything that some parser would take for an address.
OTHERS = [
    "[::1]", "[::]", "[0:0:0:0:0:0:0:1]", "[fe80::1%lo]", "[fe80::1%25lo]", "[::1%0]", "[", "[]",
    "[::1", "[[::1]]", "[v1.x]", "[o.test]", "::1", "fe80::1%lo", "0", "0.", "0x0", "00", "1.2",
    "1.2.3", "1.2.3.4.5", "256.256.256.256", "1.2.3.4.", "999999999999", "4294967295",
    "4294967296", "0xffffffff", "o.test.1", "o.test.0x1", "o.test.0x", "o.test.01",
    "o.1", "1.0x7f", "o.0xff", "o.0XFF", "169.254.169.254", "168.63.129.16", "0251.0376.0251.0376",
]


@pytest.fixture(scope="module")
def proxy(shared_world):
    world = shared_world
    world.origin = world.tls_origin()
    world.plain = world.http_origin(address=world.origin.address)
    world.agent("alpha", allow=["*"])
    return world.start()


@pytest.mark.parametrize("number", range(len(spellings("127.0.0.1"))),
                         ids=spellings("127.0.0.1"))
def test_spelling_of_an_open_address_is_refused_for_tunnels(shared_world, proxy, number):
    literal = spellings(shared_world.origin.address)[number]
    with proxy.client() as client:
        answer = client.connect_to(literal, shared_world.port)
    source = f"{proxy.addresses['alpha']}:{client.local_port}"
    assert_denied(proxy, answer, "ip-literal", src=source)
    assert_untouched(shared_world.origin)
    assert shared_world.dns.seen == []


@pytest.mark.parametrize("number", range(len(spellings("127.0.0.1"))),
                         ids=spellings("127.0.0.1"))
def test_spelling_of_an_open_address_is_refused_for_plain_http(shared_world, proxy, number):
    literal = spellings(shared_world.origin.address)[number]
    answer = proxy.get(f"http://{literal}:{shared_world.http_port}/")
    assert_refusal(answer, "ip-literal")
    assert_untouched(shared_world.plain)
    assert shared_world.dns.seen == []


@pytest.mark.parametrize("literal", OTHERS)
def test_whatever_looks_like_an_address_is_refused(shared_world, proxy, literal):
    assert_refusal(proxy.connect(literal, shared_world.port), "ip-literal")
    assert_untouched(shared_world.origin)
    assert shared_world.dns.seen == []


@pytest.mark.parametrize("host", ["o.test1", "1o.test", "0x1.test", "1.2.3.4.test", "a0x1.test"])
def test_name_with_digits_elsewhere_is_a_name(shared_world, proxy, host):
    """The benign twins: refused only because DNS does not know them."""
    assert_refusal(proxy.connect(host, shared_world.port), "dns-failure")
    assert shared_world.dns.questions(host)
    shared_world.dns.seen.clear()
