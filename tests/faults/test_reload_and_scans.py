"""A reload while the line of a request is written: what goes out was looked at under the new policy."""

from harness.checks import assert_refusal
from harness.inside import Inside
from harness.wait import until
from injection import Injection

BODY = b"an albatross flies"


def test_a_reload_between_two_scans_holds(world, tmp_path):
    origin = world.tls_origin("a.test")
    world.scans += [{"name": "first", "pattern": "bluebird"}, {"name": "bird", "pattern": "albatross"}]
    agent = world.agent("alpha", scan=["first"], request=[{"host": "a.test", "methods": ["*"]}])
    faults = Injection(tmp_path / "faults")
    proxy = world.proxy(server={"workers": 1})
    proxy.start(environment=faults.environment())
    inside = Inside(world, proxy)
    assert inside.ask("POST", "/", body=BODY).status == 200
    proxy.audit.wait_one(event="close")
    # The next line of a worker takes this long: that of the request, which was looked at before.
    faults.on("write", "goes on", threads="workers", delay_ms=4000, most=1)
    inside.send("POST", "/", body=BODY)
    until(lambda: faults.injected("write") == 1, 15, "the line of the request")
    agent["scan"] = ["bird"]
    proxy.settings = world.settings(server={"workers": 1})
    proxy.write_config()
    with proxy.control() as control:
        assert control.do("reload")["ok"]
    assert_refusal(inside.client.read_response("POST"), "secret-found")
    # A `close` line, or a `deny` line if the reload came before the line was made.
    line = proxy.audit.wait_one(reason="secret-found")
    assert (line["scan"], line["detail"]) == ("bird", "in the body")
    assert [request.body for request in origin.requests] == [BODY], "only the first one arrived"
