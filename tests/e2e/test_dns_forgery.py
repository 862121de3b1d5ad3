"""DNS answers that are not an echo of our question, or carry more than its answer, mean nothing."""

import pytest
from harness import dns as scripts
from harness import dns_wire as wire
from harness.checks import assert_refusal, assert_untouched

pytestmark = pytest.mark.hostile_bytes

# What a forger sends from the server's own address, given where its trap is.
FORGERIES = {
    "wrong id": lambda q, evil: wire.Reply(
        [wire.address_record(q.name, evil)], id=q.id ^ 1).encode(q),
    "wrong question name": lambda q, evil: wire.Reply(
        [wire.address_record("y.test", evil)], name="y.test").encode(q),
    "wrong question name, right owner": lambda q, evil: wire.Reply(
        [wire.address_record(q.name, evil)], name="y.test").encode(q),
    "longer question name": lambda q, evil: wire.Reply(
        [wire.address_record("a." + q.name, evil)], name="a." + q.name).encode(q),
    "wrong question type": lambda q, evil: wire.Reply(
        [wire.address_record(q.name, evil)], rtype=wire.TXT).encode(q),
    "letters of the question changed": lambda q, evil: wire.Reply(
        [wire.address_record(q.name, evil)], name=scripts.swap_case(q.name)).encode(q),
    "no question": lambda q, evil: wire.Reply(
        [wire.address_record(q.name, evil)], question_count=0).encode(q),
    "two questions": lambda q, evil: wire.Reply(
        [wire.address_record(q.name, evil)], question_count=2).encode(q),
    "a query, not a response": lambda q, evil: wire.Reply(
        [wire.address_record(q.name, evil)], is_response=False).encode(q),
}

# Only the letter case is no proof of anything over TCP, where nobody off the path can answer.
UDP_ONLY = {"letters of the question changed"}

# Records that come beside a true answer, and must not count.
STOWAWAYS = {
    "address of another owner": lambda q, evil: ([wire.address_record("y.test", evil)], []),
    "alias of another owner": lambda q, evil: (
        [wire.cname_record("y.test", "z.test"), wire.address_record("z.test", evil)], []),
    "address of a parent": lambda q, evil: ([wire.address_record("test", evil)], []),
    "address of a child": lambda q, evil: ([wire.address_record("a." + q.name, evil)], []),
    "additional section": lambda q, evil: ([], [wire.address_record(q.name, evil)]),
    "another class": lambda q, evil: ([wire.Record(
        q.name, wire.A, 60, wire.address_record(q.name, evil).rdata, rclass=3)], []),
    "address of the wrong size": lambda q, evil: ([wire.Record(
        q.name, wire.A, 60, wire.address_record(q.name, evil).rdata + b"\0")], []),
}


def forging(name, evil, honest):
    """Sends the forgery first, then what the honest script says."""
    def script(question, transport, number):
        packets = list(honest(question, transport, number))
        if transport == "udp" or name not in UDP_ONLY:
            packets.insert(0, FORGERIES[name](question, evil.address))
        return packets
    return script


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_packet_before_the_true_one_is_ignored(world, name):
    origin, evil = world.tcp_origin(), world.tcp_origin()
    world.dns.script("x.test", forging(name, evil, scripts.addresses_script([origin.address])))
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    with proxy.client() as client:
        status = client.connect_to("x.test", world.port).status
    # A packet that spoils its query may cost the answer; it must never become one.
    assert status in (200, 502)
    assert_untouched(evil)
    if status == 200:
        origin.wait_connection()


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_packet_alone_is_a_dns_failure(world, name):
    evil = world.tcp_origin()
    world.dns.script("x.test", forging(name, evil, scripts.silent()))
    world.agent("alpha", allow=["x.test"])
    proxy = world.start(dns={"timeout_ms": 600})
    assert_refusal(proxy.connect("x.test", world.port), "dns-failure")
    assert_untouched(evil)


def test_wrong_id_does_not_cost_the_true_answer(world):
    """Off-path forgers can send such packets all day; they must not break resolution."""
    origin, evil = world.tcp_origin(), world.tcp_origin()
    honest = scripts.addresses_script([origin.address])
    world.dns.script("x.test", forging("wrong id", evil, honest))
    world.agent("alpha", allow=["x.test"])
    proxy = world.start()
    client = proxy.open_tunnel("x.test", world.port)
    origin.wait_connection().wait_received(client.hello)
    assert_untouched(evil)


def test_names_that_hang_pin_no_source_port(world):
    """An agent keeps names hanging; the queries of another still come from ever new ports."""
    origin = world.tcp_origin()
    world.dns.script("hangs.test", scripts.silent())
    names = [f"n{number}.test" for number in range(48)]
    for name in names:
        world.dns.host(name, origin.address)
    world.agent("alpha", allow=["hangs.test"])
    world.agent("beta", allow=[".test"])
    proxy = world.start(server={"workers": 1}, dns={"timeout_ms": 20000})
    with proxy.client("alpha") as hanging:
        hanging.send(b"CONNECT hangs.test:%d HTTP/1.1\r\n\r\n" % world.port)
        world.dns.wait_question("hangs.test")
        for name in names:
            with proxy.client("beta") as client:
                assert client.connect_to(name, world.port).status == 200
    questions = [q for name in names for q in world.dns.questions(name) if q.transport == "udp"]
    ports = [question.port for question in questions]
    assert max(ports.count(port) for port in set(ports)) <= 16
    assert len({question.id for question in questions}) > len(questions) // 2
    assert len({question.name for question in questions}) > len(names)  # random letters


@pytest.mark.parametrize("stowaway", STOWAWAYS.values(), ids=STOWAWAYS.keys())
def test_record_that_is_not_in_the_owner_chain_is_ignored(world, stowaway):
    origin, evil = world.tcp_origin(), world.tcp_origin()

    def script(question, _transport, _number):
        answers, additional = stowaway(question, evil.address)
        if question.rtype == wire.A:
            answers = answers + [wire.address_record(question.name, origin.address)]
        return [wire.Reply(answers, additional=additional).encode(question)]
    world.dns.script("x.test", script)
    world.agent("alpha", allow=["x.test"])
    proxy = world.start(dns={"timeout_ms": 1000})
    with proxy.client() as client:
        assert client.connect_to("x.test", world.port).status in (200, 502)
    assert_untouched(evil)


@pytest.mark.parametrize("stowaway", STOWAWAYS.values(), ids=STOWAWAYS.keys())
def test_record_that_is_not_in_the_owner_chain_is_no_answer_alone(world, stowaway):
    evil = world.tcp_origin()

    def script(question, _transport, _number):
        answers, additional = stowaway(question, evil.address)
        return [wire.Reply(answers, additional=additional).encode(question)]
    world.dns.script("x.test", script)
    world.agent("alpha", allow=["x.test"])
    proxy = world.start(dns={"timeout_ms": 600})
    assert_refusal(proxy.connect("x.test", world.port), "dns-failure")
    assert_untouched(evil)


def test_stowaway_of_one_answer_is_not_remembered_for_another_name(world):
    """Cache poisoning: x.test's server must not be able to say where y.test is."""
    origin, evil = world.tcp_origin("y.test"), world.tcp_origin()
    world.dns.script("x.test", lambda q, *_: [wire.Reply(
        [wire.address_record(q.name, evil.address), wire.address_record("y.test", evil.address)],
        additional=[wire.address_record("y.test", evil.address)]).encode(q)])
    world.agent("alpha", allow=["x.test", "y.test"])
    proxy = world.start()
    assert proxy.connect("x.test", world.port).status == 200
    evil.wait_connection()
    client = proxy.open_tunnel("y.test", world.port)
    origin.wait_connection().wait_received(client.hello)
    assert len(evil.connections) == 1
