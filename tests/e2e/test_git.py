"""git:fetch and git:push with the real git, against git http-backend behind Stile."""

import gzip

import pytest
from harness.cli import Operator
from harness.git_origin import GitOrigin, git
from harness.inside import Inside

ZERO, ONE = "0" * 40, "1" * 40


@pytest.fixture
def place(world):
    world.git = GitOrigin(world)
    world.git.add("acme/app")
    world.git.add("acme/other")
    world.addresses["alpha"] = "127.0.0.1"
    world.agent("alpha", source=["127.0.0.1"], can=[
        "git:fetch a.test/acme/app", "git:push a.test/acme/app refs/heads/agent/* refs/tags/agent-*"])
    world.daemon = world.start()
    world.work = world.folder / "work"
    world.work.mkdir()
    return world


def run(place, *arguments, cwd=None, check=True, **variables):
    return git(*arguments, cwd=cwd or place.work, check=check,
               https_proxy=f"http://{place.daemon.listen}", GIT_SSL_CAINFO=place.daemon.stile_ca,
               **variables)


def url(place, path):
    return f"https://a.test:{place.port}/{path}"


def clone(place, path="acme/app.git"):
    run(place, "clone", "-q", url(place, path), "copy")
    copy = place.work / "copy"
    (copy / "file").write_text("x\n")
    git("add", "file", cwd=copy)
    git("commit", "-q", "-m", "second", cwd=copy)
    return copy


@pytest.mark.parametrize("version", ["0", "1", "2"])
@pytest.mark.parametrize("path", ["acme/app.git", "acme/app"])
def test_a_repository_can_be_cloned_with_each_protocol(place, version, path):
    run(place, "-c", f"protocol.version={version}", "clone", "-q", url(place, path), "copy")
    assert git("log", "--format=%s", cwd=place.work / "copy").stdout == "first\n"


def test_another_repository_cannot_be_cloned(place):
    done = run(place, "clone", "-q", url(place, "acme/other.git"), "copy", check=False)
    assert done.returncode != 0 and "403" in done.stderr
    assert place.git.origin.requests == []
    assert place.daemon.audit.wait_one(event="deny")["reason"] == "path-not-allowed"


@pytest.mark.parametrize("buffer", ["1048576", "1000"])  # one request, or a probe and chunks
@pytest.mark.parametrize("version", ["0", "2"])
def test_an_allowed_ref_can_be_pushed(place, buffer, version):
    copy = clone(place)
    (copy / "large").write_bytes(bytes(i * i % 251 for i in range(100_000)))
    git("add", "large", cwd=copy)
    git("commit", "-q", "-m", "large", cwd=copy)
    run(place, "-c", f"http.postBuffer={buffer}", "-c", f"protocol.version={version}", "push", "-q",
        "origin", "HEAD:refs/heads/agent/fix", "HEAD:refs/tags/agent-1", cwd=copy)
    assert place.git.refs("acme/app") == ["refs/heads/agent/fix", "refs/heads/main",
                                          "refs/tags/agent-1"]


@pytest.mark.parametrize("refs, words", [
    (["HEAD:refs/heads/main"], "refs/heads/main is not among the refs that may be pushed"),
    (["HEAD:refs/heads/agent/a", "HEAD:refs/heads/other"], "refs/heads/other is not among"),
    (["HEAD:refs/heads/agent/deep/er"], "refs/heads/agent/deep/er is not among"),
    (["+HEAD~1:refs/heads/agentx"], "refs/heads/agentx is not among"),
])
def test_a_push_to_another_ref_is_refused_and_git_prints_why(place, refs, words):
    copy = clone(place)
    done = run(place, "push", "origin", *refs, cwd=copy, check=False)
    assert done.returncode == 1, done.stderr
    assert f"remote: Stile refused this push: {words}" in done.stderr
    assert "[remote rejected]" in done.stderr and "(ref-not-allowed)" in done.stderr
    assert place.git.refs("acme/app") == ["refs/heads/main"]
    assert place.git.pushes() == []
    line = place.daemon.audit.wait_one(event="deny", reason="ref-not-allowed")
    assert line["path"] == "/acme/app.git/git-receive-pack" and line["method"] == "POST"


def test_advice_after_a_refused_push_is_followed(place):
    copy = clone(place)
    push = ("push", "origin", "HEAD:refs/heads/main")
    assert run(place, *push, cwd=copy, check=False).returncode == 1
    place.daemon.audit.wait_one(event="deny", reason="ref-not-allowed")
    shown = Operator(place.daemon)("audit", "show", "--denied", place.daemon.audit.path)
    said = shown.out + shown.err
    assert "add the ref to git:push in `can`" in said and "then: stile reload" in said
    place.agents[0]["can"].append("git:push a.test/acme/app refs/heads/main")
    place.daemon.write_config()
    place.daemon.control().do("reload")
    assert run(place, *push, cwd=copy).returncode == 0


def test_a_large_refused_push_is_read_to_its_end_so_that_git_prints_why(place):
    copy = clone(place)
    (copy / "large").write_bytes(b"".join(b"%d\n" % (i * i * i) for i in range(300_000)))
    git("add", "large", cwd=copy)
    git("commit", "-q", "-m", "large", cwd=copy)
    done = run(place, "-c", "http.postBuffer=1000", "-c", "core.compression=0", "push", "origin",
               "HEAD:refs/heads/main", cwd=copy, check=False)
    assert "remote: Stile refused this push: refs/heads/main" in done.stderr
    assert [request.body for request in place.git.pushes()] in ([], [b"0000"])


def test_a_deletion_is_refused_and_the_ref_stays(place):
    copy = clone(place)
    run(place, "push", "-q", "origin", "HEAD:refs/heads/agent/fix", cwd=copy)
    done = run(place, "push", "origin", ":refs/heads/agent/fix", cwd=copy, check=False)
    assert "remote: Stile refused this push: it would delete refs/heads/agent/fix" in done.stderr
    assert "refs/heads/agent/fix" in place.git.refs("acme/app")


def test_push_options_are_refused(place):
    copy = clone(place)
    done = run(place, "push", "-o", "merge_request.create", "origin", "HEAD:refs/heads/agent/fix",
               cwd=copy, check=False)
    assert "remote: Stile refused this push: push options are not allowed" in done.stderr
    assert place.git.refs("acme/app") == ["refs/heads/main"]


def test_a_signed_push_is_refused_and_git_prints_why(place):
    """Its commands are in a certificate, which only the origin could verify."""
    git("config", "receive.certNonceSeed", "seed", cwd=place.git.root / "acme/app.git")
    copy = clone(place)
    signer = place.folder / "signer"
    signer.write_text("#!/bin/sh\ncat >/dev/null\necho '[GNUPG:] SIG_CREATED ' >&2\n"
                      "printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n'\n")
    signer.chmod(0o755)
    done = run(place, "-c", f"gpg.program={signer}", "-c", "user.signingkey=x", "push", "--signed", "origin",
               "HEAD:refs/heads/agent/fix", cwd=copy, check=False)
    assert done.returncode != 0
    assert "remote: Stile refused this push: signed pushes are not allowed" in done.stderr
    assert place.git.refs("acme/app") == ["refs/heads/main"] and place.git.pushes() == []
    run(place, "-c", "push.gpgSign=false", "push", "-q", "origin", "HEAD:refs/heads/agent/fix", cwd=copy)
    assert "refs/heads/agent/fix" in place.git.refs("acme/app")


@pytest.mark.parametrize("ref, works", [("refs/heads/agent/fix", True), ("refs/heads/main", False)])
def test_a_shallow_clone_can_push_what_it_may(place, ref, works):
    bare = place.git.root / "acme/app.git"
    for _ in range(3):
        head = git("rev-parse", "main", cwd=bare).stdout.strip()
        tree = git("rev-parse", "main^{tree}", cwd=bare).stdout.strip()
        commit = git("commit-tree", "-m", "more", "-p", head, tree, cwd=bare).stdout.strip()
        git("update-ref", "refs/heads/main", commit, cwd=bare)
    run(place, "clone", "-q", "--depth", "1", url(place, "acme/app.git"), "copy")
    copy = place.work / "copy"
    git("commit", "-q", "--allow-empty", "-m", "mine", cwd=copy)
    done = run(place, "push", "origin", f"HEAD:{ref}", cwd=copy, check=False)
    assert (done.returncode == 0) == works, done.stderr
    if works:
        assert any(b"shallow " in request.body for request in place.git.pushes())
        assert ref in place.git.refs("acme/app")
    else:
        assert "remote: Stile refused this push: refs/heads/main is not among" in done.stderr


def test_a_push_to_another_repository_is_refused(place):
    copy = clone(place)
    done = run(place, "push", url(place, "acme/other.git"), "HEAD:refs/heads/agent/fix", cwd=copy,
               check=False)
    assert done.returncode != 0
    assert place.git.refs("acme/other") == ["refs/heads/main"]


def test_an_agent_that_may_fetch_cannot_push(world):
    world.git = GitOrigin(world)
    world.git.add("acme/app")
    world.agent("alpha", can=["git:fetch a.test/acme/app"])
    inside = Inside(world, world.start())
    assert inside.get("/acme/app.git/info/refs?service=git-receive-pack").reason == \
        "path-not-allowed"
    assert inside.get("/acme/app.git/info/refs?service=git-upload-pack").status == 200
    assert inside.ask("POST", "/acme/app.git/git-receive-pack", body=b"0000").reason == \
        "path-not-allowed"


def packet(text):
    return b"%04x" % (len(text) + 4) + text


def command(ref, capabilities=b"report-status"):
    return packet(f"{ZERO} {ONE} {ref}".encode() + b"\0" + capabilities)


def start_raw(world):
    world.origin = world.tls_origin("a.test")
    world.agent("alpha", can=["git:push a.test/acme/app refs/heads/agent/*"])
    world.daemon = world.start()
    return world


@pytest.fixture
def raw(world):
    return start_raw(world)


@pytest.fixture(scope="module")
def strict(shared_world):
    """For pushes of which nothing may reach the origin."""
    return start_raw(shared_world)


TARGET = "/acme/app.git/git-receive-pack"


def push(raw, body, *headers, chunk=None):
    inside = Inside(raw, raw.daemon)
    if chunk:
        inside.send("POST", TARGET, ["Transfer-Encoding: chunked", *headers])
        for at in range(0, len(body), chunk):
            part = body[at:at + chunk]
            inside.client.send(b"%x\r\n%s\r\n" % (len(part), part))
        inside.client.send(b"0\r\n\r\n")
    else:
        inside.send("POST", TARGET, headers, body)
    return inside.client.read_response("POST")


@pytest.mark.hostile_bytes
@pytest.mark.parametrize("body", [
    command("refs/heads/main") + b"0000PACK",
    command("refs/heads/agent/a") + command("refs/heads/main", b"")[:-1] + b"\n0000PACK",
    command("refs/heads/agent/a") + packet(f"{ONE} {ZERO} refs/heads/agent/b".encode()) + b"0000",
    packet(b"push-cert\0report-status\n") + packet(b"certificate version 0.1\n") + b"0000",
    packet(b"shallow " + ONE.encode()) + command("refs/heads/main") + b"0000",
    command("refs/heads/agent/../main") + b"0000", command("refs/heads/agent/a\x1b[2J") + b"0000",
    command("refs/heads/agent/a"), b"PACK", b"0001", b"zzzz" + b"x" * 100,
    command("refs/heads/agent/a", b"push-options") + b"00000000PACK",
    command("refs/heads/agent/a") + packet(f"{ZERO} {ONE} refs/heads/agent/b".encode()) * 900,
    b"0000" + command("refs/heads/main") + b"0000PACK", b"00000",
], ids=range(15))
@pytest.mark.parametrize("form", ["whole", "chunked", "bytes", "gzip"])
def test_nothing_of_a_refused_push_reaches_the_origin(strict, body, form):
    if form == "gzip":
        answer = push(strict, gzip.compress(body), "Content-Encoding: gzip")
    elif form == "whole":
        answer = push(strict, body)
    else:
        answer = push(strict, body, chunk=4096 if form == "chunked" or len(body) > 1000 else 7)
    assert answer.value("X-Stile-Reason") == "ref-not-allowed"
    assert strict.origin.requests == []
    assert {line["reason"] for line in strict.daemon.audit.entries(event="deny")} == \
        {"ref-not-allowed"}
    assert strict.daemon.audit.entries(event="open") == []


@pytest.mark.hostile_bytes
@pytest.mark.parametrize("more", [gzip.compress(command("refs/heads/main") + b"0000"), b"x", None], ids=range(3))
def test_a_lone_flush_ends_with_its_gzip_data(strict, more):
    flush, checksum_bytes = gzip.compress(b"0000"), 8
    body = flush[:-checksum_bytes] if more is None else flush + more
    answer = push(strict, body, "Content-Encoding: gzip", chunk=len(flush) - checksum_bytes)
    assert answer.value("X-Stile-Reason") == "ref-not-allowed"
    assert strict.origin.requests == []


@pytest.mark.parametrize("form", ["whole", "chunked", "gzip"])
def test_an_allowed_push_reaches_the_origin_as_it_was(raw, form):
    body = command("refs/heads/agent/a") + b"0000PACK" + bytes(range(256)) * 1000
    if form == "gzip":
        sent = gzip.compress(body)
        assert push(raw, sent, "Content-Encoding: gzip").status == 200
    else:
        sent = body
        assert push(raw, body, chunk=5000 if form == "chunked" else None).status == 200
    assert raw.origin.requests[0].body == sent


@pytest.mark.parametrize("form", ["whole", "chunked", "gzip"])
def test_a_lone_flush_asks_whether_a_push_is_allowed_at_all(raw, form):
    sent = gzip.compress(b"0000") if form == "gzip" else b"0000"
    headers = ["Content-Encoding: gzip"] if form == "gzip" else []
    assert push(raw, sent, *headers, chunk=1 if form == "chunked" else None).status == 200
    assert raw.origin.requests[0].body == sent


def test_a_body_in_another_coding_is_refused(raw):
    answer = push(raw, b"0000", "Content-Encoding: br")
    assert answer.reason == "bad-request" and raw.origin.requests == []
    answer = push(raw, b"0000", "Content-Encoding: gzip", "Content-Encoding: gzip")
    assert answer.reason == "bad-request" and raw.origin.requests == []


def test_a_client_that_waits_for_100_gets_it(raw):
    inside = Inside(raw, raw.daemon)
    body = command("refs/heads/agent/a") + b"0000"
    inside.send("POST", TARGET, ["Expect: 100-continue", f"Content-Length: {len(body)}"])
    assert inside.client.read_response("POST", skip_interim=False).status == 100
    inside.client.send(body)
    assert inside.client.read_response("POST").status == 200
    assert raw.origin.requests[0].body == body
