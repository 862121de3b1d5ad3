"""The fleet's switch: offline on all hosts or those with a label, whatever the host says."""

from harness.wait import until

AGENT = {"id": "alpha", "source": ["127.0.0.11"], "allow": ["a.test"]}


def test_offline_and_online(fleet):
    host = fleet.host("one", agent=[AGENT]).start().is_connected()
    fleet.switch("offline")
    until(lambda: host.verdict("alpha", "a.test") == "offline", 10, "the switch")
    host.ask("mode", mode="enforce")  # the host cannot undo it
    assert host.verdict("alpha", "a.test") == "offline"
    assert host.status()["mode"] == "offline" and host.fleet()["offline"] is True
    fleet.switch("online")
    until(lambda: host.verdict("alpha", "a.test") == "allow", 10, "the switch")


def test_a_host_that_is_offline_by_itself_stays_so(fleet):
    host = fleet.host("one", agent=[AGENT], egress={"mode": "offline"}).start().is_connected()
    fleet.switch("online")
    host.has("switch", 1)
    assert host.verdict("alpha", "a.test") == "offline"


def test_the_switch_is_for_a_label(fleet):
    one = fleet.host("one", {"labels": ["prod"]}, agent=[AGENT]).start().is_connected()
    two = fleet.host("two", agent=[AGENT]).start().is_connected()
    fleet.switch("offline", "--label", "prod")
    one.has("switch", 1)
    two.has("switch", 1)
    assert one.verdict("alpha", "a.test") == "offline"
    assert two.verdict("alpha", "a.test") == "allow"


def test_a_tunnel_is_closed_by_the_switch(fleet, world):
    world.tcp_origin("o.test")
    world.agent("alpha", allow=["o.test"])
    host = fleet.host("one", addresses=world.addresses, **{
        key: value for key, value in world.settings().items() if key in ("dns", "egress", "agent")})
    host.start().is_connected()
    host.daemon.open_tunnel("o.test", world.port)
    host.daemon.audit.wait_one(event="open")
    fleet.switch("offline")
    host.daemon.audit.wait_one(event="close", reason="revoked")
