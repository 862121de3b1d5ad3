"""A thousand agents on one host: creating one more costs what the first one did."""

import json
import resource
import statistics
import time

import pytest

from lab.host import IS_SANITIZED

AGENTS = 100 if IS_SANITIZED else 1000
PART = AGENTS // 10


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def kernel_memory(host):
    """Kilobytes that the kernel uses for itself."""
    info = dict(line.split(":") for line in host.read("/proc/meminfo").splitlines())
    return sum(int(info[name].split()[0]) for name in ("Slab", "Percpu", "KernelStack", "PageTables"))


def measured(host, *arguments):
    wall, cpu = time.monotonic(), cpu_seconds()
    # There is no daemon: a check fails, whatever the fence is like.
    host.tool(*arguments, check=arguments[0] != "check")
    return time.monotonic() - wall, cpu_seconds() - cpu


@pytest.mark.long
def test_a_thousand_agents(host):
    memory = kernel_memory(host)
    costs = [measured(host, "create", f"agent-{i}") for i in range(AGENTS)]
    memory = (kernel_memory(host) - memory) / AGENTS
    first, last = costs[:PART], costs[-PART:]
    numbers = {
        "create_ms_first": round(1000 * statistics.median(wall for wall, _ in first), 1),
        "create_ms_last": round(1000 * statistics.median(wall for wall, _ in last), 1),
        "create_cpu_ms_first": round(1000 * statistics.median(cpu for _, cpu in first), 1),
        "create_cpu_ms_last": round(1000 * statistics.median(cpu for _, cpu in last), 1),
        "kernel_kib_per_agent": round(memory),
    }
    for name, arguments in {"list": ["list"], "repair": ["repair"], "check_one": ["check", f"agent-{AGENTS // 2}"],
                            "create_again": ["create", f"agent-{AGENTS // 2}"]}.items():
        numbers[f"{name}_ms"], numbers[f"{name}_cpu_ms"] = (round(1000 * x, 1) for x in measured(host, *arguments))
    agents = host.agents()
    assert len(agents) == AGENTS and {one["state"] for one in agents.values()} == {"ok"}
    assert len({one["address"] for one in agents.values()}) == AGENTS
    watch = host.start_watch()
    start = time.monotonic()
    host.nft("flush ruleset")
    while "loaded the table" not in watch.stdout.readline():
        pass
    numbers["restore_ms"] = round(1000 * (time.monotonic() - start), 1)
    assert host.fence_is_whole(f"agent-{AGENTS - 1}")
    numbers["delete_ms"], numbers["delete_cpu_ms"] = (round(1000 * x, 1) for x in measured(host, "delete", "agent-7"))
    print(json.dumps(numbers))
    # Flat: by processor time, which a busy machine does not change.
    assert numbers["create_cpu_ms_last"] < 2 * numbers["create_cpu_ms_first"] + 20, numbers
