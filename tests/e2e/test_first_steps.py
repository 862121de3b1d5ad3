"""What `make run` prints, followed word by word by somebody whose account is new."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

from harness.stiled import binary

REPOSITORY = pathlib.Path(__file__).parents[2]
RUN = REPOSITORY / "scripts/run"

# In a network and mount namespace of its own, so that no port and no file is in the way.
SCRIPT = """
    ip link set lo up
    mount -t tmpfs none /run
    [ -e /etc/stile ] && mount -t tmpfs none /etc/stile
    exec setpriv --reuid 65534 --regid 65534 --clear-groups bash -c '
      "$0" "$1" >said 2>&1 & pid=$!
      for i in $(seq 400); do
        curl -q -s -o /dev/null http://127.0.0.1:9128/readyz && break; sleep 0.05
      done
      eval "$2"
      kill $pid; wait $pid; echo "exit $?"; cat said
    ' "$0" "$1" "$2"
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="becoming somebody else needs root")
def test_a_new_user_gets_where_the_lines_lead():
    """No folder is there for state or sockets, and nobody has installed `stile`."""
    with tempfile.TemporaryDirectory(prefix="stile-user-") as folder:
        os.chmod(folder, 0o755)
        follow(pathlib.Path(folder))


def follow(folder):
    home, tools = folder / "home", folder / "build/cmd"
    home.mkdir()
    tools.mkdir(parents=True)
    (folder / "scripts").mkdir()
    for owned in (home, tools.parent):
        os.chown(owned, 65534, 65534)
    for name in ("capabilities", "profiles"):
        shutil.copytree(REPOSITORY / name, folder / name)
    for name in ("stile", "stiled"):
        shutil.copy(binary(name), tools)
    shutil.copy(RUN, folder / "scripts/run")
    lines = [line for line in re.findall(r"^  (\S.*)$", RUN.read_text(), re.MULTILINE)
             if line.startswith(("stile ", "curl "))]
    assert len(lines) >= 8
    tries = f"PATH={tools}:$PATH; " + "".join(
        f"{line.split('#')[0]}; echo \"$? {line.split()[0]}\";" for line in lines)
    done = subprocess.run(["unshare", "-nm", "sh", "-c", SCRIPT, folder / "scripts/run", tools, tries],
                          capture_output=True, text=True, timeout=120, check=False, cwd=home,
                          env={"PATH": os.environ["PATH"], "HOME": home})
    out = done.stdout
    assert f"PATH={tools}:$PATH" in out, out + done.stderr
    assert re.findall(r"^(\d+) (curl|stile)$", out, re.MULTILINE) == [
        ("56", "curl"), ("56", "curl"), ("56", "curl"),  # there is no DNS here for the first
        ("1", "stile"), ("0", "stile"), ("0", "stile"), ("0", "stile"), ("0", "curl")], out + done.stderr
    assert "local may reach example.com for 10m" in out
    assert "npm:install" in out  # the capabilities of the sources
    assert 'reason="host-not-allowed"' in out and "exit 0" in out
