"""The generator and its origins, on the core that the contenders do not use."""

import json
import ssl
import subprocess

from . import contenders, machine


def record_hello(path, host="origin.test"):
    """Writes the ClientHello that OpenSSL would send to `host`; every contender gets these bytes."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname=host)
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        path.write_bytes(outgoing.read())


class Load:
    """Context manager: the origins run inside."""

    def __init__(self, program, work):
        self.program = program
        self.hello = work / "hello.bin"
        record_hello(self.hello)
        self.origin = None

    def __enter__(self):
        self.origin = self.launch("origin", "--tls",
                                  f"{contenders.ORIGIN}:{contenders.TLS_PORT}", "--http",
                                  f"{contenders.ORIGIN}:{contenders.HTTP_PORT}")
        if self.origin.stdout.readline() != "ready\n":
            raise RuntimeError("the origins did not start")
        return self

    def __exit__(self, *_):
        self.origin.kill()
        self.origin.wait()

    def launch(self, *arguments):
        command = machine.pinned(machine.LOAD_CORE, [self.program, *arguments])
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def _common(self, contender, running):
        """Flags that say which contender, and to whom it shall go; without one: no proxy."""
        flags = ["--sources", contenders.AGENTS, "--hello", self.hello]
        if contender is None:
            return [*flags, "--direct", "--proxy", f"{contenders.ORIGIN}:{contenders.TLS_PORT}"]
        return [*flags, "--proxy", f"127.0.0.1:{running.port}", "--target",
                contender.target, "--pids", ",".join(map(str, running.pids()))]

    def start(self, command, contender, running, *flags):
        return self.launch(command, *self._common(contender, running), *flags)

    def run(self, command, contender, running, *flags):
        """Runs to the end and returns the generator's report."""
        return self.run_with(command, *self._common(contender, running), *flags)

    def run_with(self, command, *flags):
        """The same, with these flags alone."""
        generator = self.launch(command, *flags)
        output, _ = generator.communicate(timeout=180)
        if generator.returncode != 0:
            raise RuntimeError(f"loadgen {command} failed")
        return json.loads(output)

    def hold(self, contender, running, count):
        return Held(self.start("hold", contender, running, "--count", count))


class Held:
    """Tunnels that stay open until release()."""

    def __init__(self, generator):
        self.generator = generator
        self.report = json.loads(generator.stdout.readline())

    def release(self):
        """Closes them and returns how many were gone before."""
        output, _ = self.generator.communicate(timeout=60)
        return json.loads(output)["lost"]
