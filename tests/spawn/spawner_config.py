"""The spawner.toml of the tests."""

SPAWNER_TOML = """\
max_workers = 4
allowed_workspaces = ["/mnt/agents"]
spawn_cooldown_seconds = {cooldown}

[templates.default]
task = ["bash"]
allowed_hosts = ["api.anthropic.com"{more_hosts}]
private_exceptions = ["127.0.0.9/32", "192.0.2.9/32"]
ttl_seconds = 3600
narrow = ["allowed_hosts", "ttl_seconds", "resource_limits", "tags"]
[templates.default.environment]
GREETING = "hello"
[templates.default.resource_limits]
memory_mb = 256
max_processes = 64

[templates.command]
command = ["bash", "-c", "echo \\"<0>started as $(id -u)\\"; exec sleep infinity"]
narrow = ["ttl_seconds"]

[templates.files]
task = ["bash"]
read = ["/srv/data"]
narrow = ["read", "write"]

[templates.incapable]
task = ["bash"]
can = ["no-such:capability"]

[templates.broken]
command = ["no-such-program"]
"""


def spawner_toml(cooldown=0, more_hosts=()):
    return SPAWNER_TOML.format(cooldown=cooldown, more_hosts="".join(f', "{host}"' for host in more_hosts))
