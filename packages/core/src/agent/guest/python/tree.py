"""Trees of processes, as /proc shows them, and how to end one."""

import os

import _signal as signal

ROUNDS = 32


class Entry:
    """What /proc says of one process."""

    __slots__ = ("pid", "parent", "group")

    def __init__(self, pid, parent, group):
        self.pid = pid
        self.parent = parent
        self.group = group


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
        fields = stat[stat.rindex(b")") + 2 :].split(None, 3)
        parent = int(fields[1])
        children.setdefault(parent, []).append(Entry(int(name), parent, int(fields[2])))
    return children


def descendants(spared=frozenset()):
    """Every process below this one, without the spared ones and what is below them. This process is their subreaper."""
    children = children_of()
    found = [entry for entry in children.get(os.getpid(), []) if entry.pid not in spared]
    for entry in found:
        found += children.get(entry.pid, [])
    return found


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
