"""The way of docs/observe.md, walked: observe, suggest, paste, diff, enforce."""

import subprocess
import tomllib

from harness.config import toml
from harness.origin import echo
from harness.stiled import binary
from harness.wait import until


def stile(*arguments, status=0):
    done = subprocess.run([binary("stile"), *map(str, arguments)], text=True, capture_output=True,
                          check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def test_observe_suggest_paste_enforce(world):
    for name in ("api.o.test", "files.p.test"):
        world.tcp_origin(name, handler=echo)
    alpha = world.agent("alpha", mode="observe")
    proxy = world.start()
    for name in ("api.o.test", "files.p.test", "api.o.test"):
        client = proxy.open_tunnel(name, world.port)
        client.recv_exactly(len(client.hello))
        client.close()
    proxy.audit.wait_count(3, 20, event="close")
    log = proxy.audit.path

    suggested = stile("suggest", "--agent", "alpha", "--audit", log, "--config", proxy.config)
    (entry,) = tomllib.loads(suggested)["agent"]
    assert entry == {"id": "alpha", "allow": ["api.o.test", "files.p.test"]}

    alpha.update(allow=["api.o.test"], mode="enforce")
    draft = world.write("draft.toml", toml(proxy.settings))
    assert "files.p.test" in stile("diff", draft, "--old", proxy.config, "--audit", log, status=1)

    alpha.update(allow=entry["allow"])
    draft.write_text(toml(proxy.settings))
    stile("check", draft)
    stile("diff", draft, "--old", proxy.config, "--audit", log)

    proxy.reload()
    until(lambda: proxy.metrics().total("stile_policy_reloads_total", result="ok") == 1, 20)
    assert proxy.connect("files.p.test", world.port).status == 200
    assert proxy.connect("other.test", world.port).reason == "host-not-allowed"
