"""Attacks on other processes, and on what keeps a process small."""

import ctypes
import errno
import os
import platform
import signal
import stat
import subprocess
import time

from attack import MARK, SIBLING_MARK, Tries, attack, brief, command_line, library, process_ids, read, run_attacks, status

NO_PROCESSES = "there is no list of processes here, nor a second process"
# Those that reach over the walls of a container; each is asked nothing, so that it can do nothing.
SYSTEM_CALLS = {
    # name: (x86_64, aarch64, first argument)
    "bpf": (321, 280, -1),
    "perf_event_open": (298, 241, 0),
    "io_uring_setup": (425, 425, 1),
    "userfaultfd": (323, 282, 1),
    "keyctl": (250, 219, 0),
    "add_key": (248, 217, 0),
    "open_by_handle_at": (304, 265, -1),
    "init_module": (175, 105, 0),
    "mount": (165, 40, 0),
    "setns": (308, 268, -1),
    "unshare (a user namespace)": (272, 97, 0x10000000),
    "ptrace (of its own parent)": (101, 117, 0),
    "process_vm_readv": (310, 270, 0),
}
REFUSALS = {errno.EPERM, errno.ENOSYS, errno.EACCES}
STRONG = {
    1: "DAC_OVERRIDE",
    2: "DAC_READ_SEARCH",
    12: "NET_ADMIN",
    13: "NET_RAW",
    16: "SYS_MODULE",
    17: "SYS_RAWIO",
    19: "SYS_PTRACE",
    21: "SYS_ADMIN",
    22: "SYS_BOOT",
    27: "MKNOD",
    38: "PERFMON",
    39: "BPF",
}


def read_or_empty(path):
    try:
        return read(path)
    except OSError:
        return b""


def others_with(mark):
    own = {os.getpid(), os.getppid()}
    return [pid for pid in process_ids() if pid not in own and mark.encode() in command_line(pid)]


def look_for(mark, whose):
    pids = process_ids()
    if not pids:
        return False, NO_PROCESSES
    found = others_with(mark)
    if not found:
        return False, f"{len(pids)} processes to be seen, none of them of {whose}"
    try:
        os.kill(found[0], signal.SIGKILL)  # it was started to be found here
        return True, f"saw and killed process {found[0]} of {whose}"
    except OSError as error:
        return True, f"saw process {found[0]} of {whose}; to kill it: {error.strerror}"


@attack("processes.host")
def host():
    got, saw = look_for(MARK, "this machine")
    if not got and read_or_empty("/proc/2/comm").strip() == b"kthreadd":
        return True, "sees the threads of the machine's kernel, so all of its processes"
    return got, saw


@attack("processes.siblings")
def siblings():
    return look_for(SIBLING_MARK, "another sandbox")


@attack("processes.environment")
def environment():
    if "SANDKIT_BAIT" in os.environ:
        return True, "has the variable SANDKIT_BAIT of the program that made the sandbox"
    return False, f"{len(os.environ)} variables, none of them from the program that made the sandbox"


def ancestors():
    """The programs above this one, nearest first, and the first of all."""
    found, pid = [], os.getppid()
    while pid > 1 and pid not in found:
        found.append(pid)
        fields = read_or_empty(f"/proc/{pid}/status").decode(errors="replace").split("PPid:\t")
        pid = int(fields[1].split()[0]) if len(fields) > 1 else 1
    return [*found, 1]


@attack("processes.agent")
def agent():
    if not process_ids():
        return False, NO_PROCESSES
    tries = Tries()
    for pid in ancestors():
        for part in ("mem", "environ", "maps"):
            tries.attempt(f"/proc/{pid}/{part}", lambda path=f"/proc/{pid}/{part}": open_only(path, os.O_RDONLY))
        tries.attempt(f"/proc/{pid}/fd", lambda path=f"/proc/{pid}/fd": f"{len(os.listdir(path))} open files")
    return tries.outcome()


def open_only(path, flags):
    os.close(os.open(path, flags))


@attack("processes.ptrace")
def ptrace():
    if not process_ids():
        return False, NO_PROCESSES
    seize, detach = 0x4206, 17
    tries = Tries()
    for pid in ancestors():
        tries.attempt(f"ptrace of process {pid}", lambda pid=pid: call_library("ptrace", seize, pid, 0, 0))
        if tries.got:
            library().ptrace(detach, pid, 0, 0)
    return tries.outcome()


def call_library(name, *arguments):
    ctypes.set_errno(0)
    if getattr(library(), name)(*[ctypes.c_long(argument) for argument in arguments]) == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


@attack("processes.root")
def root():
    facts = status()
    if not facts:
        return False, "there are no users here: no kernel"
    whole = read_or_empty("/proc/self/uid_map").split() == [b"0", b"0", b"4294967295"]
    if os.getuid() == 0 and whole:
        return True, "runs as root, which is root of the kernel too"
    return False, f"runs as user {os.getuid()}" + ("" if whole else ", in a user namespace")


@attack("processes.capabilities")
def capabilities():
    facts = status()
    if not facts:
        return False, "there are no capabilities here: no kernel"
    held = {name: int(facts.get(name, "0"), 16) for name in ("CapEff", "CapPrm", "CapInh", "CapBnd", "CapAmb")}
    words = ", ".join(f"{name} {value:016x}" for name, value in held.items() if value)
    if not words:
        return False, "none, in any of the five sets"
    bound = held.pop("CapBnd")
    if bound and not any(held.values()) and facts.get("NoNewPrivs", "").strip() == "1":
        return False, f"none but {words}, which no_new_privs keeps out of reach"
    strong = [name for bit, name in STRONG.items() if (held["CapEff"] | held["CapPrm"]) >> bit & 1]
    return True, words + (f"; among them {', '.join(strong)}" if strong else "")


@attack("processes.new-privileges")
def new_privileges():
    facts = status()
    if not facts:
        return False, "there are no privileges here: no kernel"
    if facts.get("NoNewPrivs", "").strip() == "1":
        return False, "no_new_privs is set: programs with the setuid bit gain nothing"
    programs = [path for path in set_id_programs() if gains_root(path)]
    if programs:
        return True, f"no_new_privs is not set, and {programs[0]} became root"
    return True, "no_new_privs is not set: a program with the setuid bit would become its owner"


def set_id_programs():
    for folder in ("/bin", "/sbin", "/usr/bin", "/usr/sbin"):
        for entry in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            path = os.path.join(folder, entry)
            if os.path.isfile(path) and os.stat(path).st_mode & stat.S_ISUID:
                yield path


def gains_root(path):
    """Starts it with its input held open, so that it waits, and looks who it has become."""
    program = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(10):
            time.sleep(0.01)
            users = read_or_empty(f"/proc/{program.pid}/status").partition(b"Uid:")[2].split()
            if len(users) > 1 and users[1] == b"0" and os.getuid() != 0:
                return True
        return False
    finally:
        program.kill()
        program.wait()


@attack("processes.kernel")
def kernel():
    facts = status()
    if not facts:
        return False, "there are no system calls here: no kernel"
    column = {"x86_64": 0, "aarch64": 1}.get(platform.machine())
    if column is None:
        raise Untried(f"the numbers of system calls of {platform.machine()} are not known")
    reached = [name for name, facts in SYSTEM_CALLS.items() if answers(facts[column], facts[2])]
    filtered = facts.get("Seccomp", "0").strip()
    if reached:
        return True, f"seccomp {filtered}; the kernel answers to {', '.join(reached)}"
    if filtered == "0":
        return True, "seccomp 0: no system call is filtered"
    return False, f"seccomp {filtered}; {len(SYSTEM_CALLS)} system calls refused: {', '.join(brief(list(SYSTEM_CALLS), 4))}"


def answers(number, first):
    """In a child: some of them would change this process."""
    child = os.fork()
    if child == 0:
        ctypes.set_errno(0)
        result = library().syscall(ctypes.c_long(number), ctypes.c_long(first), None, None, None, None)
        os._exit(1 if result != -1 or ctypes.get_errno() not in REFUSALS else 0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


run_attacks()
