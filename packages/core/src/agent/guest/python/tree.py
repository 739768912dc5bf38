"""Trees of processes, as /proc shows them, and how to end one."""

import os

import _signal as signal

ROUNDS = 32


class Entry:
    """What /proc says of one process."""

    __slots__ = ("pid", "parent", "group", "session", "dead", "start")

    def __init__(self, pid, fields):
        self.pid = pid
        self.dead = fields[0] == b"Z"
        self.parent, self.group, self.session = (int(field) for field in fields[1:4])
        self.start = fields[19]


def children_of():
    """All processes by the number of their parent."""
    children = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            descriptor = os.open("/proc/" + name + "/stat", os.O_RDONLY)
        except OSError:
            continue
        try:
            stat = os.read(descriptor, 4096)
        except OSError:
            continue
        finally:
            os.close(descriptor)
        # The command in parentheses may hold anything, parentheses too.
        entry = Entry(int(name), stat[stat.rindex(b")") + 2 :].split(None, 20))
        children.setdefault(entry.parent, []).append(entry)
    return children


def descendants(spared=frozenset()):
    """Every process below this one, without the spared ones and what is below them. This process is their subreaper."""
    children = children_of()
    found = [entry for entry in children.get(os.getpid(), []) if entry.pid not in spared]
    for entry in found:
        found += children.get(entry.pid, [])
    return found


TOKEN = b"SANDKIT_EXEC"


class Strays:
    """What lost its parent where a kernel has no subreapers (gVisor): process 1 has it, and its traces tell whose it was."""

    def __init__(self):
        self.mark = b""
        self.known = set()

    def begin(self, env):
        """Marks the environment of the next program."""
        self.mark = TOKEN + b"=" + os.urandom(16).hex().encode()
        self.known = set()
        env[TOKEN] = self.mark[len(TOKEN) + 1 :]

    def find(self, leader):
        """Every process below this one, and those that were."""
        children = children_of()
        own = os.getpid()
        found = children.get(own, [])
        found += [
            entry for entry in children.get(1, []) if entry.pid != own and not entry.dead and self.owns(entry, leader)
        ]
        for entry in found:
            found += children.get(entry.pid, [])
        self.known.update((entry.pid, entry.start) for entry in found)
        return found

    def owns(self, entry, leader):
        if entry.session == leader or (entry.pid, entry.start) in self.known:
            return True
        try:
            with open("/proc/%d/environ" % entry.pid, "rb") as file:
                return self.mark in file.read().split(b"\0")
        except OSError:
            # It has ended, or cannot be read by its own user.
            return False


def signal_each(number, find):
    """Sends a signal once to each process that `find` gives, also to those that appear meanwhile.

    Parents come first, so that none of them sees its children stop; so to go on they come last.
    """
    done = set()
    for _ in range(ROUNDS):
        fresh = [entry.pid for entry in find() if entry.pid not in done]
        if not fresh:
            break
        if number == signal.SIGCONT:
            fresh.reverse()
        for pid in fresh:
            try:
                os.kill(pid, number)
            except (ProcessLookupError, PermissionError):
                # Gone already, or of another user: in that case the tree does not end, and the host sees that.
                pass
        done.update(fresh)


def kill_each(find):
    """Stops all first, so that none can fork while the others die."""
    signal_each(signal.SIGSTOP, find)
    signal_each(signal.SIGKILL, find)
