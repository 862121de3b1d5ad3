"""A typed config, checked by stile-web against the real daemon's config, log and connections."""

import pytest
from harness.origin import echo
from harness.wait import until
from harness.web import StileWeb


@pytest.fixture
def proxy(world):
    world.tcp_origin("a.test", handler=echo)
    world.agent("alpha", allow=["a.test", "b.test"])
    return world.start()


@pytest.fixture
def browser(world, proxy):
    return StileWeb(world, proxy).browser()


def test_a_change_is_shown_with_its_effect_on_the_log_and_on_connections(world, proxy, browser):
    tunnel = proxy.open_tunnel("a.test", world.port)
    tunnel.recv_exactly(len(tunnel.hello))
    for _ in range(3):
        proxy.connect("c.test", world.port)
    in_force = browser.get("/api/v1/config").json
    assert in_force["ok"] and '"a.test"' in in_force["text"]
    changed = in_force["text"].replace('"a.test"', '"c.test"')

    def answer():
        return browser.post("/api/v1/config/check", {"text": changed}).json
    until(lambda: answer()["requests"] == 4, 10, "all lines of the log")
    found = answer()
    assert found["valid"] and found["whole_log"]
    assert [(one["agent"], one["allow_added"], one["allow_removed"]) for one in found["rules"]] == [
        ("alpha", ["c.test"], ["a.test"])]
    row = found["allowed"]["rows"][0]
    assert (found["allowed"]["total"], row["target"], row["count"], row["after"]) == (1, f"c.test:{world.port}", 3, "allow")
    assert [(one["target"], one["after"]) for one in found["refused"]["rows"]] == [
        (f"a.test:{world.port}", "deny host-not-allowed")]
    assert found["cut"] == {"total": 1, "rows": [{"agent": "alpha", "host": "a.test", "port": world.port}]}
    # Looking changes nothing.
    assert proxy.control().do("ping")["generation"] == 1
    tunnel.send(b"still open")
    assert tunnel.recv_exactly(10) == b"still open"


def test_errors_of_a_text_are_told_and_no_file_is_read(browser, world):
    text = browser.get("/api/v1/config").json["text"]
    found = browser.post("/api/v1/config/check", {"text": text.replace("a.test", "a b.test")}).json
    assert found["ok"] and not found["valid"] and "a b.test" in found["problems"]
    found = browser.post("/api/v1/config/check", {"text": 'nonsense = ['}).json
    assert not found["valid"]
    secret = world.write("list.txt", "secret.test\n")
    named = text.replace("[[agent]]", f'[[agent]]\nallow_files = ["{secret}"]', 1)
    found = browser.post("/api/v1/config/check", {"text": named}).json
    assert not found["valid"] and "secret.test" not in str(found)
    assert browser.post("/api/v1/config/check", {}).code == "bad-request"
    assert browser.post("/api/v1/config/check", {"text": "x" * 70000}).status == 413
    assert browser.get("/api/v1/config/check").code == "wrong-method"


def test_it_needs_a_session(browser):
    stranger = browser.web.stranger()
    assert stranger.get("/api/v1/config").status == 401
    assert stranger.post("/api/v1/config/check", {"text": ""}).status == 401
