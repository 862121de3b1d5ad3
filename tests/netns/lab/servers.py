"""Real servers on the Internet of a street, for programs that know no proxy."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from lab.host import PYTHON, wait_until
from lab.street import ORIGIN

POSTGRES = Path("/usr/lib/postgresql")
SSHD = Path("/usr/sbin/sshd")
SERVICES = Path(__file__).parent / "services.py"


class Servers:
    """Each is started when a test asks for it, and ends with the street."""

    def __init__(self, street):
        self.street = street
        self.folder = Path(tempfile.mkdtemp(prefix="stile-servers-"))
        self.folder.chmod(0o755)

    def _start(self, port, *command, **options):
        log = open(self.folder / f"{port}.log", "a")
        process = self.street.outside.popen(*command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, **options)

        def is_up():
            assert process.poll() is None, (self.folder / f"{port}.log").read_text()
            done = self.street.outside.run("ss", "-Hltn", f"sport = :{port}")
            return done.stdout.strip()
        wait_until(is_up, f"the server on port {port}")

    def postgres(self):
        programs = max(POSTGRES.glob("*/bin"))
        data = self.folder / "postgres"
        data.mkdir()
        shutil.chown(data, "postgres", "postgres")
        as_owner = ["runuser", "-u", "postgres", "--"]
        self.street.outside.run(*as_owner, programs / "initdb", "-N", "-A", "trust", "-D", data)
        with open(data / "pg_hba.conf", "a") as file:
            file.write("host all all all trust\n")
        self._start(5432, *as_owner, programs / "postgres", "-D", data, "-h", ORIGIN, "-k", data, "-c", "fsync=off")

    def redis(self):
        self._start(6379, "redis-server", "--bind", ORIGIN, "--port", "6379", "--save", "", "--dir", self.folder,
                    "--protected-mode", "no")

    def git_over_ssh(self):
        """A repository below /, and the text of a key that may read it."""
        repository = self.folder / "repository"
        git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.test", "-c", "init.defaultBranch=main"]
        for command in (["init", "-q", repository],
                        ["-C", repository, "commit", "-q", "--allow-empty", "-m", "over ssh"]):
            subprocess.run([*git, *map(str, command)], check=True)
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True)
        config = self.folder / "sshd_config"
        config.write_text(f"ListenAddress {ORIGIN}:2222\nHostKey {self.folder}/host\nPidFile none\n"
                          f"AuthorizedKeysFile {self.folder}/user.pub\nStrictModes no\nUsePAM no\n"
                          "PermitRootLogin prohibit-password\n")
        # Its directory in /run, without the machine's noticing.
        self._start(2222, "unshare", "--mount", "sh", "-c",
                    f"mount -t tmpfs tmpfs /run && mkdir /run/sshd && exec {SSHD} -D -e -f {config}")
        return repository, (self.folder / "user").read_text()

    def grpc(self):
        self._python("grpc", 50051)

    def websocket(self):
        self._python("websocket", 8443)

    def _python(self, kind, port):
        certificates = self.street.certificates
        self._start(port, PYTHON, SERVICES, kind, ORIGIN, str(port), certificates.chain_file, certificates.key_file)

    def close(self):
        if not os.environ.get("STILE_KEEP"):
            shutil.rmtree(self.folder, ignore_errors=True)
