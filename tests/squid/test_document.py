"""The worked example of docs/migrating-from-squid.md does what it says."""

import os
import re
import subprocess
from pathlib import Path

from harness.stiled import REPOSITORY, binary

PAGE = REPOSITORY / "docs/migrating-from-squid.md"


def blocks(kind):
    return re.findall(rf"^```{re.escape(kind)}\n(.*?)^```$", PAGE.read_text(), re.M | re.S)


def test_commands_of_the_example_work_and_print_what_is_shown(open_folder):
    for name in ("squid.conf", "allowed-domains.txt"):
        (open_folder / name).write_text(blocks(name)[0])
    path = f"{Path(binary('stile-squid')).parent}:{os.environ['PATH']}"
    for script in blocks("sh"):
        done = subprocess.run(["sh", "-ec", script], cwd=open_folder, env={"PATH": path},
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, f"{script}\n{done.stdout}{done.stderr}"
    assert (open_folder / "stile.toml").read_text() == blocks("stile.toml")[0]
