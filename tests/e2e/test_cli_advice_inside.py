"""The advice after a refusal inside TLS that Stile ends, and after an origin that fails: followed as it is written, then
the request passes; or it says that it stays refused."""

import ssl

import pytest
from harness.http_origin import reply
from harness.inside import Inside, try_tls
from harness.wait import until
from test_cli_advice import Place
from test_inside_requests import UPGRADE, accept_websocket
from test_scans import TOKEN

ENTRY = {"host": "a.test", "methods": ["GET", "POST"], "paths": ["/ok/**"], "max_body": 10}


@pytest.fixture
def place(world):
    world.origin = world.tls_origin("a.test")
    world.secret("api", "sk-real-value-0123456789", ["k.test"], header="X-Api-Key", placeholder="sk-placeholder-1", own="refuse")
    world.tls_origin("k.test")
    world.agent("alpha", allow=["k.test"], secrets=["api"], scan=["tokens"], request=[ENTRY])
    return Place(world, world.start())


def advice(place, reason):
    """Of the one refusal in the log."""
    place.proxy.audit.wait_one(20, reason=reason)
    return place.says("audit", "show", "--denied", place.proxy.audit.path)


def ask(place, *request, host="a.test", **options):
    answer = Inside(place.world, place.proxy, host).ask(*request, **options)
    return answer.reason if answer.value("X-Stile-Reason") else answer.status


# The request, its reason, the words of the note, and the change of the agent's entry that they ask for.
CHANGES = [
    (("DELETE", "/ok/x"), {}, "method-not-allowed", "add the method to a `request` entry",
     {"request": [{**ENTRY, "methods": ["GET", "DELETE"]}]}),
    (("GET", "/other"), {}, "path-not-allowed", "add the path to a `request` entry",
     {"request": [{**ENTRY, "paths": ["/ok/**", "/other"]}]}),
    (("POST", "/ok/x"), {"body": b"x" * 11}, "body-too-large", "raise max_body in a `request` entry",
     {"request": [{**ENTRY, "max_body": 11}]}),
    (("GET", "/ok/x", [f"X-Note: {TOKEN}"]), {}, "secret-found", "take the scan out of `scan`", {"scan": []}),
]


@pytest.mark.parametrize("request_, options, reason, words, change", CHANGES, ids=[row[2] for row in CHANGES])
def test_the_entry_is_changed_as_the_note_says(place, request_, options, reason, words, change):
    assert ask(place, *request_, **options) == reason
    told = advice(place, reason)
    note, = told["note"]
    assert told["next"] == [] and words in note and note.endswith("stile reload") and f"{place.proxy.config}:" in note
    place.change_agent(**change)
    assert ask(place, *request_, **options) == 200


def test_upgrade_not_allowed(place):
    assert ask(place, "GET", "/ok/x", UPGRADE) == "upgrade-not-allowed"
    note, = advice(place, "upgrade-not-allowed")["note"]
    assert "set websocket = true in a `request` entry" in note and note.endswith("stile reload")
    place.change_agent(request=[{**ENTRY, "websocket": True}], scan=[])
    place.world.origin.on("/ok/x", accept_websocket)
    inside = Inside(place.world, place.proxy)
    inside.send("GET", "/ok/x", UPGRADE)
    assert inside.client.read_head()[0] == 101


def test_credential_refused(place):
    own = ["Authorization: Bearer mine"]
    assert ask(place, "GET", "/", own, host="k.test") == "credential-refused"
    note, = advice(place, "credential-refused")["note"]
    assert 'own = "replace" in [[secret]]' in note and note.endswith("stile reload")
    place.proxy.settings["secret"][0]["own"] = "replace"
    place.proxy.write_config()
    place.type("stile reload")
    assert ask(place, "GET", "/", own, host="k.test") == 200


@pytest.mark.parametrize("request_, options, reason", [
    (("GET", "/ok/sk-placeholder-1"), {}, "placeholder-misplaced"),
    (("GET", "/ok/x"), {"host_inside": "other.test"}, "host-mismatch"),
])
def test_what_stays_refused_is_said_to(place, request_, options, reason):
    inside = Inside(place.world, place.proxy)
    assert inside.ask(*request_, host=options.get("host_inside")).reason == reason
    told = advice(place, reason)
    assert told["next"] == [] and "it stays refused" in told["note"][0]


def handshake(place, ca_file, protocols=None):
    client = place.proxy.client()
    assert client.connect_to("a.test", place.world.port).status == 200
    return try_tls(client, "a.test", ca_file, protocols)


@pytest.mark.parametrize("reason, protocols", [("client-tls-failed", None), ("no-application-protocol", ["h2"])])
def test_a_client_that_cannot_be_opened_is_sealed_instead(place, reason, protocols):
    """It pins the origin's certificate, or speaks nothing but HTTP/2."""
    ca_file = place.proxy.stile_ca if protocols else place.world.certificates.ca_file
    assert isinstance(handshake(place, ca_file, protocols), (ssl.SSLError, ConnectionError))
    note, = advice(place, reason)["note"]
    assert "remove the `request` entries and secrets for this host" in note and note.endswith("stile reload")
    assert ("stile ca" in note) == (reason == "client-tls-failed")
    place.change_agent(request=[], allow=["a.test", "k.test"], scan=[])
    assert handshake(place, place.world.certificates.ca_file) is None


def test_client_tls_failed_ends_with_the_ca_that_is_printed(place):
    assert handshake(place, place.world.certificates.ca_file) is not None
    advice(place, "client-tls-failed")
    path = place.world.folder / "printed.pem"
    path.write_text(place.type("stile ca"))
    assert handshake(place, str(path)) is None


def test_origin_certificate(world):
    world.tls_origin("a.test")
    world.agent("alpha", request=[ENTRY])
    place = Place(world, world.start(intercept={"trust": []}))
    assert ask(place, "GET", "/ok/x") == "origin-certificate"
    note, = advice(place, "origin-certificate")["note"]
    assert "trust in [intercept]" in note and note.endswith("stile reload")
    place.proxy.settings["intercept"]["trust"] = [world.certificates.ca_file]
    place.proxy.write_config()
    place.type("stile reload")
    assert ask(place, "GET", "/ok/x") == 200


def test_origin_that_does_not_answer_or_answers_nonsense(world):
    world.dns.host("silent.test", world.blackhole().address)
    world.http_origin("odd.test").on("/", reply(b"nonsense\r\n\r\n", close=True))
    world.agent("alpha", allow=["silent.test", "odd.test"])
    place = Place(world, world.start(limits={"connect_timeout_ms": 300}))
    assert place.reason("silent.test", world.port) == "origin-timeout"
    assert place.proxy.get(f"http://odd.test:{world.http_port}/").reason == "origin-bad-response"
    until(lambda: len(place.proxy.audit.entries(verdict="deny")) == 2, 20, "both lines")
    told = place.says("audit", "show", "--denied", place.proxy.audit.path)
    assert told["next"] == [] and len(told["note"]) == 2
    assert all("the origin fails" in note for note in told["note"])
