"""Attacks on files that are not the sandbox's own. What is opened for writing is never written to."""

import os
import socket
import stat
import tempfile

from attack import SIBLING_MARK, Tries, attack, library, process_ids, read, run_attacks

BAIT = os.environ.get("SANDKIT_BAIT_FILE", "")
SECRET = os.environ.get("SANDKIT_BAIT_SECRET", "")
SIBLING_FILE = os.environ.get("SANDKIT_SIBLING_FILE", "")
SOCKETS = (
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/run/podman/podman.sock",
    "/run/containerd/containerd.sock",
    "/run/crio/crio.sock",
    "/run/buildkit/buildkitd.sock",
    "/run/dbus/system_bus_socket",
    "/run/systemd/private",
)
DEVICES = ("mem", "kmem", "port", "kvm", "vhost-vsock", "vhost-net", "fuse", "net/tun", "kmsg", "disk", "mapper/control")
KERNEL_FILES = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/kernel/modprobe",
    "/proc/sys/kernel/sysrq",
    "/proc/sys/vm/panic_on_oom",
    "/proc/sys/fs/binfmt_misc/register",
    "/proc/sysrq-trigger",
    "/proc/irq/default_smp_affinity",
    "/sys/kernel/uevent_helper",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/fs/cgroup/cgroup.procs",
    "/sys/fs/cgroup/release_agent",
    "/sys/fs/cgroup/memory/cgroup.procs",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    "/sys/fs/cgroup/pids/pids.max",
    "/sys/fs/cgroup/rdma/release_agent",
)
# What container engines bring in by design: files of one container, and its first program.
USUAL_MOUNTS = {"/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/sbin/docker-init", "/usr/sbin/docker-init"}
DISKS = {"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "nfs", "nfs4", "cifs", "9p", "virtiofs", "fuse.sshfs"}


def roots():
    """Where the root of another mount namespace could be seen from here."""
    yield from ("", "/host", "/hostfs", "/rootfs", "/mnt", "/media")
    for pid in process_ids():
        yield f"/proc/{pid}/root"
        yield f"/proc/{pid}/cwd/../../../../../.."


def find(path, content):
    tries = Tries()

    def look(place):
        # What is there and is not it has not been found.
        if content.encode() not in read(place):
            raise OSError(0, "another file")
        return "read it"

    for root in roots():
        tries.attempt(root + path, lambda place=root + path: look(place))
        if tries.got:
            break
    return tries.outcome()


@attack("files.host")
def host():
    return find(BAIT, SECRET)


@attack("files.siblings")
def siblings():
    return find(SIBLING_FILE, SIBLING_MARK)


@attack("files.engine")
def engine():
    there = [path for path in SOCKETS if os.path.exists(path) and stat.S_ISSOCK(os.stat(path).st_mode)]
    if not there:
        return False, f"none of {len(SOCKETS)} usual sockets is there"
    tries = Tries()
    for path in there:
        tries.attempt(path, lambda path=path: speak(path))
    return tries.outcome()


def speak(path):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(2)
        client.connect(path)
    return "connected"


@attack("files.devices")
def devices():
    tries = Tries()
    for name in DEVICES:
        tries.attempt(f"/dev/{name}", lambda path=f"/dev/{name}": open_device(path))
    for name in sorted(os.listdir("/dev")) if os.path.isdir("/dev") else []:
        path = f"/dev/{name}"
        if os.path.exists(path) and stat.S_ISBLK(os.stat(path).st_mode):
            tries.attempt(path, lambda path=path: open_device(path))
    tries.attempt("mknod of a disk", make_disk)
    return tries.outcome()


def open_device(path):
    # Not blocking, and not a terminal of ours: a look, and no more.
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOCTTY", 0)))


def make_disk():
    if not hasattr(os, "mknod"):
        raise OSError(0, "not there")
    path = os.path.join(tempfile.mkdtemp(), "disk")
    os.mknod(path, 0o600 | stat.S_IFBLK, os.makedev(8, 0))
    made = stat.S_ISBLK(os.stat(path).st_mode)
    os.unlink(path)
    if not made:
        raise OSError(0, "made an ordinary file")


@attack("files.kernel")
def kernel():
    tries = Tries()
    for path in KERNEL_FILES:
        # Without O_CREAT and O_TRUNC: opened, nothing has changed.
        tries.attempt(path, lambda path=path: os.close(os.open(path, os.O_WRONLY)))
    tries.attempt("/proc/kcore", lambda: core_of_the_kernel())
    return tries.outcome()


def core_of_the_kernel():
    if not read("/proc/kcore").startswith(b"\x7fELF"):
        raise OSError(0, "empty")


@attack("files.mounts")
def mounts():
    try:
        lines = read("/proc/self/mounts").decode(errors="replace").splitlines()
    except OSError as error:
        return False, f"there are no mounts here: {error.strerror}"
    entries = [line.split(" ") for line in lines]
    disks = [f"{where} ({kind}, {options.split(',')[0]})" for _, where, kind, options, *_ in entries if is_foreign(where, kind)]
    tries = Tries()
    tries.attempt("mount of a tmpfs", mount_something)
    if disks or tries.got:
        return True, "; ".join([*(f"has {disk} of the machine" for disk in disks), *tries.got])
    return False, f"{len(entries)} mounts, none of a disk of the machine; {tries.outcome()[1]}"


def is_foreign(where, kind):
    return kind in DISKS and where not in USUAL_MOUNTS and where != "/"


def mount_something():
    import ctypes

    if not hasattr(library(), "mount"):
        raise OSError(0, "no such call")
    where = tempfile.mkdtemp().encode()
    if library().mount(b"none", where, b"tmpfs", 0, None) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    library().umount(where)


run_attacks()
