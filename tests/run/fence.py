"""Fence: `stile run` as a person would call it, with the origins of a world behind it."""

import os
import shutil
import subprocess
from pathlib import Path

from harness.cli import REPOSITORY, StileRun, environment
from harness.config import toml
from harness.stiled import SANITIZER_WORDS, binary

USER = 61234  # an id that nobody has


def binary_for_all(folder):
    """The built command, or a copy of it and of the capabilities if other users cannot get to them."""
    built = Path(binary("stile")).resolve()
    if all(parent.stat().st_mode & 0o001 for parent in built.parents):
        return str(built)
    folder.chmod(0o755)
    shutil.copytree(REPOSITORY / "capabilities", folder / "capabilities")
    return str(shutil.copy(built, folder / "stile"))


class Fence:
    """`folder` is the working directory; the command sees it, although it is in /tmp."""

    def __init__(self, world, folder, stile_binary, is_user):
        self.world, self.folder, self.binary, self.is_user = world, folder, stile_binary, is_user
        copied = Path(stile_binary).parent / "capabilities"
        self.places = {"STILE_CAPABILITIES": str(copied)} if copied.is_dir() else {}
        self.ca_file = str(folder / "ca.pem")
        shutil.copy(world.certificates.ca_file, self.ca_file)
        os.chmod(self.ca_file, 0o644)

    def write(self, name, text, mode=0o644):
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)
        if self.is_user and os.geteuid() == 0:
            os.chown(path, USER, USER)
        return str(path)

    def config(self, **sections):
        """A stile.toml with the world's DNS, ports and private exceptions."""
        settings = self.world.settings(**sections)
        settings["dns"]["hosts_file"] = "/dev/null"
        settings["intercept"]["trust"] = [self.ca_file]
        del settings["agent"]
        return self.write("stile.toml", toml(settings))

    def drop(self):
        """What makes an unprivileged user of root."""
        if not self.is_user or os.geteuid() != 0:
            return []
        return ["/usr/bin/setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--"]

    def line(self, *flags, command, config=None):
        with_config = ["--config", config or self.config()] if config != "" else []
        return [*self.drop(), self.binary, "run", *with_config, *map(str, flags), "--",
                *map(str, command)]

    def start(self, *flags, command, config=None, env=None, wrapper=(), **options):
        options.setdefault("stdin", subprocess.DEVNULL)
        return subprocess.Popen([*wrapper, *self.line(*flags, command=command, config=config)],
                                cwd=self.folder, env=env or environment(**self.places), **options)

    def run(self, *flags, command, config=None, data=b"", seconds=50, env=None, wrapper=(), has_notice=False):
        """`has_notice`: keep the line that tells root that its command cannot write in root's directory."""
        process = self.start(*flags, command=command, config=config, env=env, wrapper=wrapper,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(data, seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        lines = err.decode("latin-1").splitlines(keepends=True)
        kept = [line for line in lines if has_notice or "host root is never passed on" not in line]
        done = StileRun(process.returncode, out.decode("latin-1"), "".join(kept))
        assert not [word for word in SANITIZER_WORDS if word in done.err], done.err
        return done

    def curl(self, *flags, url, config=None, more=()):
        """curl inside; what it prints is the status of the proxy's answer and of the origin's."""
        return self.run(*flags, config=config, command=[
            "curl", "-q", "-sS", "--max-time", "20", "--cacert", self.ca_file,
            "-w", "%{http_connect} %{http_code}", *more, "-o", "/dev/null", url])

    def python(self, *flags, script, **options):
        return self.run(*flags, command=["/usr/bin/python3", "-c", script], **options)

    def shell(self, *flags, script, **options):
        return self.run(*flags, command=["sh", "-c", script], **options)
