"""Where several refusals fit, the earlier step gives the reason."""

import pytest
from harness.checks import assert_denied, assert_untouched
from test_who_is_asking import timestamp

# (name, who asks, target of CONNECT with {port}, the reason that wins)
CASES = [
    ("agent before literal", "stranger", "127.0.0.1:{port}", "unknown-agent"),
    ("agent before syntax", "stranger", "a_b.test:{port}", "unknown-agent"),
    ("agent before port", "stranger", "o.test:1", "unknown-agent"),
    ("expiry before offline", "expired", "o.test:{port}", "agent-expired"),
    ("expiry before literal", "expired", "127.0.0.1:{port}", "agent-expired"),
    ("offline before literal", "offline", "127.0.0.1:{port}", "offline"),
    ("offline before syntax", "offline", "a_b.test:{port}", "offline"),
    ("offline before port", "offline", "o.test:1", "offline"),
    ("offline before host", "offline", "nowhere.test:{port}", "offline"),
    ("literal before syntax of the port", "alpha", "127.0.0.1:99999", "ip-literal"),
    ("literal before a missing port", "alpha", "127.0.0.1", "ip-literal"),
    ("literal before port", "alpha", "127.0.0.1:1", "ip-literal"),
    ("literal before host", "alpha", "10.1.2.3:{port}", "ip-literal"),
    ("syntax before port", "alpha", "a_b.test:1", "bad-request"),
    ("syntax before host", "alpha", "-nowhere.test:{port}", "bad-request"),
    ("port before deny rule", "alpha", "denied.test:1", "port-not-allowed"),
    ("port before allow rule", "alpha", "nowhere.test:1", "port-not-allowed"),
    ("deny rule before allow rule", "alpha", "denied.test:{port}", "host-denied"),
    ("deny rule before no rule", "alpha", "denied-only.test:{port}", "host-denied"),
    ("host before DNS", "alpha", "nowhere.test:{port}", "host-not-allowed"),
    ("DNS before dialling", "alpha", "unresolved.test:{port}", "dns-failure"),
    ("address before dialling", "alpha", "private.test:{port}", "address-forbidden"),
]


@pytest.fixture(scope="module")
def proxy(shared_world):
    world = shared_world
    world.origin = world.tls_origin("o.test")
    world.dns.host("private.test", "10.0.0.1")
    world.dns.host("denied.test", world.origin.address)
    common = {"allow": ["o.test", "denied.test", "unresolved.test", "private.test"],
              "deny": ["denied.test", "denied-only.test"]}
    world.agent("alpha", **common)
    world.agent("expired", expires=timestamp(-60), mode="offline", **common)
    world.agent("offline", mode="offline", **common)
    return world.start()


@pytest.mark.parametrize("who, target, reason", [case[1:] for case in CASES],
                         ids=[case[0] for case in CASES])
def test_earlier_step_gives_the_reason(shared_world, proxy, who, target, reason):
    before = len(proxy.audit.raw_lines())
    with proxy.client(who) as client:
        line = target.format(port=shared_world.port)
        client.send(f"CONNECT {line} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        answer = client.read_response("CONNECT")
    assert_denied(proxy, answer, reason, src=f"{shared_world.addresses[who]}:{client.local_port}")
    assert len(proxy.audit.raw_lines()) == before + 1, "one request, one line"
    assert_untouched(shared_world.origin)
    asked = shared_world.dns.names_asked()
    assert asked <= {"unresolved.test", "private.test"}, "refused names are never looked up"
