"""Scenarios of tunnels that are opened: TLS with the client, TLS with the origin, HTTP inside."""

import contextlib
import os
import shutil
import subprocess

from . import certificates, contenders, machine, stile_config
from .results import Result
from .scenarios import entry_of, side_by_side

PORT = 9444
HOLD = 2000  # idle connections


class Opener(contenders.Contender):
    """A contender that opens TLS; `certificates` is set before it starts."""
    kinds = ("opened",)
    target = f"origin.test:{PORT}"
    flags = ()
    certificates = None


class Stile(Opener):
    version_command = ["--version"]

    def command(self, work, port, setup):
        rules = (f'[[agent.request]]\nhost = "origin.test:{PORT}"\nmethods = ["*"]\n')
        config = stile_config.write(
            work, f"127.0.0.1:{port}", {"origin.test": contenders.ORIGIN},
            [(f"agent-{n}", f"127.0.1.{n}", rules) for n in range(1, contenders.AGENTS + 1)],
            egress=f"ports = [{PORT}]", limits=stile_config.UNLIMITED)
        with open(config, "a", encoding="ascii") as text:
            text.write(f'[intercept]\nca = "{work}/ca"\ntrust = ["{self.certificates.root}"]\n')
        return [self.program, "-c", config]


class Floor(Opener):
    def command(self, work, port, setup):
        return [self.program, "--listen", f"127.0.0.1:{port}", "--origin",
                f"{contenders.ORIGIN}:{PORT}", "--cert", self.certificates.leaf, "--key",
                self.certificates.leaf_key, "--trust", self.certificates.root]


class Squid(Opener):
    """ssl_bump with squid's own certificate helper; the log as in Debian's squid.conf."""
    version_command = ["-v"]

    def missing(self):
        if reason := super().missing():
            return reason
        built = subprocess.run([self.program, "-v"], capture_output=True, text=True, check=False)
        return None if "--with-openssl" in built.stdout else f"{self.program} is without OpenSSL"

    def command(self, work, port, setup):
        os.chmod(work, 0o777)
        helper = os.environ.get("STILE_BENCH_CERTGEN", "/usr/lib/squid/security_file_certgen")
        subprocess.run([helper, "-c", "-s", work / "leaves", "-M", "16MB"], check=True,
                       stdout=subprocess.DEVNULL)
        shutil.chown(work / "leaves", "proxy", "proxy")
        for path in (work / "leaves").rglob("*"):
            shutil.chown(path, "proxy", "proxy")
        (work / "hosts").write_text(f"{contenders.ORIGIN} origin.test\n")
        (work / "squid.conf").write_text(f"""\
acl localnet src 127.0.1.0/24
acl allowed dstdomain .origin.test
http_access allow localnet allowed
http_access deny all
http_port 127.0.0.1:{port} ssl-bump tls-cert={self.certificates.root_both} generate-host-certificates=on dynamic_cert_mem_cache_size=16MB
sslcrtd_program {helper} -s {work}/leaves -M 16MB
sslcrtd_children 1
tls_outgoing_options cafile={self.certificates.root}
ssl_bump bump all
cache deny all
hosts_file {work}/hosts
access_log daemon:{work}/access.log squid
cache_log {work}/cache.log
pid_filename {work}/squid.pid
coredump_dir {work}
visible_hostname bench
pinger_enable off
max_filedescriptors {contenders.hard_limit()}
""")
        return [self.program, "-N", "-n", f"bench{os.getpid()}", "-f", work / "squid.conf"]


class Mitmproxy(Opener):
    """Has no hosts file, so its clients request the address; writes one line per request."""
    target = f"{contenders.ORIGIN}:{PORT}"
    version_command = ["--version"]

    def command(self, work, port, setup):
        return [self.program, "--listen-host", "127.0.0.1", "--listen-port", port, "--set",
                f"confdir={work}", "--set",
                f"ssl_verify_upstream_trusted_ca={self.certificates.root}"]


class Haproxy(Opener):
    """Terminates TLS and encrypts again, for one origin; it knows no CONNECT and no policy."""
    version_command = ["-v"]
    flags = ("--direct",)

    def command(self, work, port, setup):
        (work / "haproxy.cfg").write_text(contenders.haproxy_config(
            f"127.0.0.1:{port} ssl crt {self.certificates.both}",
            f"{contenders.ORIGIN}:{PORT} ssl verify required ca-file {self.certificates.root} "
            "sni str(origin.test) verifyhost origin.test"))
        return [self.program, "-db", "-f", work / "haproxy.cfg"]


def entrants(build):
    return [Stile("stile", build / "cmd/stiled"), Floor("floor-tls", build / "bench/floor"),
            Squid("squid", os.environ.get("STILE_BENCH_SQUID", "/usr/sbin/squid")),
            Mitmproxy("mitmproxy", "/usr/bin/mitmdump"), Haproxy("haproxy", contenders.HAPROXY)]


@contextlib.contextmanager
def origin(bench):
    """The origin and its certificates; every contender that opens TLS gets to know them."""
    made = certificates.Certificates(bench.work / "certificates", "origin.test", contenders.ORIGIN)
    for contender in bench.contenders:
        contender.certificates = made
    server = bench.load.launch("tls-origin", "--listen", f"{contenders.ORIGIN}:{PORT}", "--cert",
                               made.leaf, "--key", made.leaf_key)
    try:
        if server.stdout.readline() != "ready\n":
            raise RuntimeError("the TLS origin did not start")
        yield
    finally:
        server.kill()
        server.wait()


def small(name, title, *flags, full=3000):
    """Requests of 1 KiB."""
    def scenario(bench):
        result = Result(name, title, "cpu", "µs of CPU per request", floor="floor-tls")

        def one_round(contender, running):
            report = bench.load.run("tls-get", contender, running, "--count", bench.count(full),
                                    "--warm-up", 200, *flags, *contender.flags)
            return entry_of(report, report["operations"], 1e6)

        with origin(bench):
            return side_by_side(bench, result, contenders.Setup("opened"), one_round,
                                with_direct=False)
    return scenario


def bulk(direction):
    def scenario(bench):
        result = Result(f"opened-bulk-{direction}", f"bulk {direction}, 64 opened connections", "cpu",
                        "ms of CPU per GB", floor="floor-tls")

        def one_round(contender, running):
            flags = ["--up"] if direction == "up" else []
            report = bench.load.run("tls-get", contender, running, "--bytes",
                                    bench.count(500000000), *flags, *contender.flags)
            return entry_of(report, report["bytes"] / 1e9, 1e3)

        with origin(bench):
            return side_by_side(bench, result, contenders.Setup("opened"), one_round,
                                with_direct=False)
    return scenario


def idle(bench):
    """Connections that have made one request each and now wait."""
    result = Result("opened-idle", f"{HOLD} idle opened connections", "kib", "KiB per connection",
                    floor="floor-tls", columns={})
    with origin(bench):
        for contender in bench.contenders:
            if "opened" not in contender.kinds or contender.name == "mitmproxy":
                continue
            result.versions[contender.name] = contender.version()
            for _ in range(min(bench.rounds, 3)):
                result.add(contender.name, held(bench, contender))
    return result


def held(bench, contender):
    running = contender.start(bench.work / "opened-idle" / contender.name,
                              contenders.Setup("opened"))
    try:
        running.wait_ready()
        bench.load.run("tls-get", contender, running, "--count", 500, *contender.flags)
        before = machine.private_kib(running.pid)
        generator = bench.load.start("tls-get", contender, running, "--kept", "--hold", "--count",
                                     HOLD, "--concurrency", HOLD, *contender.flags)
        generator.stdout.readline()
        after = machine.private_kib(running.pid)
        generator.communicate(timeout=60)
        return {"kib": (after - before) / HOLD}
    finally:
        running.stop()


SCENARIOS = {
    "opened-full": small("opened-full", "CONNECT, full handshake, GET of 1 KiB, 64 at a time"),
    "opened-resumed": small("opened-resumed", "the same with a client that resumes", "--resume"),
    "opened-get": small("opened-get", "GET of 1 KiB on a kept opened connection, 64 at a time",
                        "--kept", full=20000),
    "opened-bulk-up": bulk("up"),
    "opened-bulk-down": bulk("down"),
    "opened-idle": idle,
}
