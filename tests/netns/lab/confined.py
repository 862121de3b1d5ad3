"""Becomes a command as a unit of systemd would run it: its user, no capability, its system calls.

confined.py UNIT USER COMMAND…
"""

import ctypes
import errno
import os
import platform
import pwd
import re
import struct
import subprocess
import sys

LOAD_NUMBER, EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF_LD|W|ABS at offset 0, BPF_JMP|JEQ|K, BPF_RET|K
ALLOW, REFUSE = 0x7fff0000, 0x00050000 | errno.EPERM
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP = 38, 22


def call_sets():
    """Each @set of systemd with the names of its system calls."""
    sets, name = {}, None
    for line in subprocess.run(["systemd-analyze", "syscall-filter"], capture_output=True, text=True).stdout.splitlines():
        if line.startswith("@"):
            name = line.strip()
            sets[name] = set()
        elif name and (word := line.strip()) and not word.startswith("#"):
            sets[name].add(word)

    def expand(word):
        return set().union(*(expand(inner) for inner in sets[word])) if word.startswith("@") else {word}
    return expand


def allowed_names(unit):
    expand, names = call_sets(), set()
    for line in re.findall(r"^SystemCallFilter=(.*)$", open(unit).read(), re.MULTILINE):
        words = set().union(*map(expand, line.lstrip("~").split()))
        names = names - words if line.startswith("~") else names | words
    return names | expand("@default")


def numbers(names):
    with open(f"/usr/include/{platform.machine()}-linux-gnu/asm/unistd_64.h") as file:
        known = dict(re.findall(r"#define __NR_(\w+) (\d+)", file.read()))
    return sorted(int(known[name]) for name in names if name in known)


def confine(allowed):
    rows = [struct.pack("HBBI", LOAD_NUMBER, 0, 0, 0)]
    for number in allowed:
        rows += [struct.pack("HBBI", EQUAL, 0, 1, number), struct.pack("HBBI", RETURN, 0, 0, ALLOW)]
    rows.append(struct.pack("HBBI", RETURN, 0, 0, REFUSE))
    code = ctypes.create_string_buffer(b"".join(rows))
    program = struct.pack("HxxxxxxP", len(rows), ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, 2, program, 0, 0):
        sys.exit(f"confined.py: {os.strerror(ctypes.get_errno())}")


def main():
    unit, user, *command = sys.argv[1:]
    allowed = numbers(allowed_names(unit))
    entry = pwd.getpwnam(user)
    os.setgroups([])
    os.setresgid(*[entry.pw_gid] * 3)
    os.setresuid(*[entry.pw_uid] * 3)
    confine(allowed)
    os.execv(command[0], command)


main()
