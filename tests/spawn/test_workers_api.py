"""/api/v1/agents: batches of workers, their states and their ends, as the page and programs see them."""

import json

import pytest
from spawner_config import spawner_toml
from web_inside import ORIGIN, Events, Web


@pytest.fixture(scope="module")
def web(machine):
    return Web(machine)


@pytest.fixture
def page(web):
    headers = web.log_in()

    def ask(method, path, body=None, **more):
        status, answer, _ = web.call(method, f"/api/v1/{path}", body, **{**headers, **more})
        return status, answer
    yield ask
    ask("POST", "agents/stop-all", {})


def configure(machine, **options):
    machine.path("/etc/stile/spawner.toml").write_text(spawner_toml(**options))
    machine.run("systemctl", "reload-or-restart", "stile-spawner")


def test_a_batch_is_spawned_listed_and_stopped_by_its_tag(machine, page):
    configure(machine, cooldown=1)  # the batch waits for it
    status, answer = page("POST", "agents/spawn", {"count": 2, "workspace": "/mnt/agents", "tags": ["nightly"], "batch": "review"})
    assert status == 200 and answer["batch"] == "review", answer
    assert [(one["task_id"], one["status"]) for one in answer["agents"]] == [("review-1", "spawned"), ("review-2", "spawned")]
    assert all(len(one["auth_token"]) == 64 for one in answer["agents"])
    configure(machine)
    status, other = page("POST", "agents/spawn", {"agents": [{"task_id": "other", "workspace": "/mnt/agents"},
                                                             {"task_id": "no good", "workspace": "/mnt/agents"}]})
    assert other["agents"][0]["status"] == "spawned" and "Invalid task_id" in other["agents"][1]["error"]
    listed = page("GET", "agents/active")[1]
    assert listed["connected"] and {one["task_id"]: one["tags"] for one in listed["workers"]} == {
        "review-1": ["nightly", "review"], "review-2": ["nightly", "review"], "other": [other["batch"]]}
    assert page("GET", "agents/status")[1] == {"ok": True, "connected": True, "workers": 3}
    one = page("GET", "agents/other")[1]
    assert one["ok"] and one["runs"] == [] and one["status"] == "running"
    for body in ({"tags": ["review"]}, {"tag": ""}, {"agent": "other"}):
        assert page("POST", "agents/stop-all", body)[0] == 400
    status, stopped = page("POST", "agents/stop-all", {"tag": "review"})
    assert [(one["task_id"], one["status"]) for one in stopped["agents"]] == [("review-1", "terminated"), ("review-2", "terminated")]
    assert page("POST", "agents/other/stop", {})[1]["status"] == "terminated"
    assert page("GET", "agents/active")[1]["workers"] == []
    assert page("GET", "agents/other")[0] == 404


def test_it_needs_a_session_and_the_csrf_header(web, page):
    for headers in ({}, {"Origin": ORIGIN}, {**web.log_in(), "X_Stile_CSRF": "x"}, {**web.log_in(), "Origin": "http://evil.example"}):
        for method, path in (("GET", "active"), ("POST", "stop-all"), ("POST", "spawn"), ("GET", "events")):
            status = web.call(method, f"/api/v1/agents/{path}", {} if method == "POST" else None, **headers)[0]
            assert status in (401, 403), (headers, path)
    for body in ({"count": 17}, {"agents": []}, {"action": "terminate"}, []):
        assert page("POST", "agents/spawn", body)[0] == 400


def test_events_tell_of_workers_and_their_tasks(machine, web, page):
    stream = iter(Events(web.open("GET", "/api/v1/agents/events", **web.log_in())))

    def wait_until(condition):
        while True:
            name, data = next(stream)
            assert name == "workers", name
            if condition(value := json.loads(data)):
                return value
    wait_until(lambda value: value == {"connected": True, "workers": []})
    page("POST", "agents/spawn", {"agents": [{"task_id": "alpha", "workspace": "/mnt/agents"}]})
    wait_until(lambda value: [one["task_id"] for one in value["workers"]] == ["alpha"])
    machine.ask({"action": "run", "task_id": "alpha", "message": "exit 3"})
    seen = wait_until(lambda value: value["workers"][0]["runs"][-1:] and value["workers"][0]["runs"][-1]["status"] == "failed")
    assert seen["workers"][0]["runs"][0]["exit_status"] == 3


def test_the_last_check_of_the_fence_is_shown_with_its_date(machine, page):
    page("POST", "agents/spawn", {"agents": [{"task_id": "alpha", "workspace": "/mnt/agents"}]})
    assert "containment" not in page("GET", "policy/alpha")[1]["agent"]
    assert machine.run("/opt/stile/stile-netns", "check", "alpha", check=False).returncode == 0
    noted = page("GET", "policy/alpha")[1]["agent"]["containment"]
    assert noted["holds"] is True and noted["checked"].startswith("20")
    listed = {one["id"]: one for one in page("GET", "agents/containment-status")[1]["agents"]}
    assert listed["alpha"]["containment"] == noted
    # A new agent of that name was not checked yet.
    page("POST", "agents/alpha/stop", {})
    page("POST", "agents/spawn", {"agents": [{"task_id": "alpha", "workspace": "/mnt/agents"}]})
    assert "containment" not in page("GET", "policy/alpha")[1]["agent"]


def test_without_a_spawner_everything_else_works(machine, web, page):
    machine.run("systemctl", "stop", "stile-spawner.socket", "stile-spawner.service")
    try:
        assert page("GET", "agents/status")[1] == {"ok": True, "connected": False, "workers": 0}
        assert page("GET", "agents/active")[1] == {"ok": True, "connected": False, "workers": []}
        assert page("GET", "agents/alpha")[0] == 502
        assert page("GET", "status")[1]["ok"]
        assert web.call("GET", "/agents/alpha/.well-known/agent-card.json")[0] == 503
    finally:
        machine.run("systemctl", "start", "stile-spawner.socket")
