"""A host of the test's own: a mount namespace in which it can put sockets where it likes."""

import ctypes
import os

CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWNET = 0x20000, 0x10000000, 0x40000000
MS_BIND, MS_REC, MS_PRIVATE = 4096, 16384, 1 << 18
MNT_DETACH = 2
SYS_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}[os.uname().machine]

libc = ctypes.CDLL(None, use_errno=True)


def check(result, what):
    if result != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def mount(source, target, kind, flags=0, options=None):
    check(libc.mount(source.encode() if source else None, str(target).encode(),
                     kind.encode() if kind else None, flags,
                     options.encode() if options else None), f"mount {target}")


def unshare(flags):
    check(libc.unshare(flags), "unshare")


def forbid_user_namespaces():
    """In a user namespace of our own, whose limits are its own, and which knows every id."""
    reader, writer = os.pipe()
    ready, done = os.pipe()
    parent = os.getpid()
    if os.fork() == 0:  # a map of more than one id has to come from outside
        os.close(writer)
        os.read(reader, 1)
        for kind in ("gid", "uid"):
            with open(f"/proc/{parent}/{kind}_map", "w") as file:
                file.write("0 0 4294967295\n")
        os.write(done, b".")
        os._exit(0)
    unshare(CLONE_NEWUSER)
    os.write(writer, b".")
    os.read(ready, 1)
    os.wait()
    with open("/proc/sys/user/max_user_namespaces", "w") as file:
        file.write("0")


def fresh_root(base, empty, files):
    """Becomes the only one to see a root made of the real one's directories, some of them empty.

    `base`: an empty directory to build it in; `files`: places, and the files to be seen there.
    """
    unshare(CLONE_NEWNS)
    mount(None, "/", None, MS_PRIVATE | MS_REC)
    mount("tmpfs", base, "tmpfs", 0, "mode=755")
    for name in sorted(set(os.listdir("/")) | {path.split("/")[1] for path in empty}):
        source, target = f"/{name}", f"{base}/{name}"
        if os.path.islink(source):
            os.symlink(os.readlink(source), target)
        elif os.path.isdir(source) or not os.path.exists(source):
            os.mkdir(target)
            if f"/{name}" not in empty and os.path.isdir(source):
                mount(source, target, None, MS_BIND | MS_REC)
    for path in empty:
        os.makedirs(base + path, exist_ok=True)
    for place, source in files.items():
        os.close(os.open(base + place, os.O_CREAT | os.O_WRONLY, 0o755))
        mount(source, base + place, None, MS_BIND)
    os.chmod(base + "/tmp", 0o1777)
    os.mkdir(base + "/.old")
    check(libc.syscall(SYS_PIVOT_ROOT, base.encode(), (base + "/.old").encode()), "pivot_root")
    os.chdir("/")
    check(libc.umount2(b"/.old", MNT_DETACH), "umount")
    os.rmdir("/.old")
