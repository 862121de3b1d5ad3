"""A folder from which a daemon can be started: config, names and state."""


def write(work, listen, hosts, agents, egress="", limits="", workers=1):
    """`hosts` by name, `agents` as (id, source, rules); returns the path of the config.

    Addresses behind the names may be dialled, though they are loopback; nothing asks a DNS server.
    """
    (work / "state").mkdir(parents=True, exist_ok=True)
    (work / "hosts").write_text("".join(f"{hosts[name]} {name}\n" for name in hosts))
    origins = ", ".join(f'"{address}/32"' for address in sorted(set(hosts.values())))
    entries = "".join(f'[[agent]]\nid = "{name}"\nsource = ["{source}"]\n{rules}\n'
                      for name, source, rules in agents)
    path = work / "stile.toml"
    path.write_text(f"""\
[server]
workers = {workers}
listen = ["{listen}"]
metrics = ""
control = "{work}/control.sock"
control_group = ""
state_dir = "{work}/state"
[egress]
private_exceptions = [{origins}]
{egress}
[dns]
servers = ["127.0.0.1:9"]
hosts_file = "{work}/hosts"
[limits]
{limits}
[audit]
path = "{work}/audit.jsonl"
[agents]
directories = []
{entries}""")
    return path


# For agents that are loaded as hard as it goes.
UNLIMITED = "connections_per_agent = 20000\nrequests_per_second = 0"
