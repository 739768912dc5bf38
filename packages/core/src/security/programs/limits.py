"""Attacks on caps. Each stops by itself a little above the cap that should have stopped it, so that a machine without
caps is not harmed; its amounts are its arguments."""

import errno
import os
import signal
import sys
import tempfile
import time

from attack import attack, brief, run_attacks

MIB = 1024 * 1024
PLACES = ("/tmp", "/var/tmp", "/dev/shm", "/run", "/run/lock", "/app", "/tools", "/home", "/root", "/opt", "/var", "/usr", "/etc", "/")


def memory(most):
    kept = []
    for _ in range(most // 8):
        block = bytearray(8 * MIB)
        block[:: 4096] = b"x" * len(block[:: 4096])  # a page that nobody has written to costs nothing
        kept.append(block)
        # Said as it goes: the program may be killed at any of them.
        print(f"allocated {len(kept) * 8} MiB", flush=True)
    return True, f"allocated {len(kept) * 8} MiB"


def processes(most):
    if not hasattr(os, "fork"):
        return False, "there are no processes here"
    children = []
    try:
        while len(children) < most:
            child = os.fork()
            if child == 0:
                time.sleep(20)
                os._exit(0)
            children.append(child)
    except OSError as error:
        return False, f"{len(children)} processes, then: {error.strerror}"
    finally:
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return True, f"{most} processes at one time"


def disk(most):
    """Fills one place after another with small files, and leaves nothing."""
    made, written, ends = [], 0, []
    block = os.urandom(MIB)  # what is stored compressed, or not at all, proves nothing
    try:
        for place in dict.fromkeys((os.getcwd(), *PLACES)):
            try:
                folder = tempfile.mkdtemp(dir=place)
            except OSError:
                continue  # not a place to write to
            made.append(folder)
            try:
                while written < most * MIB:
                    with open(f"{folder}/{written}", "wb", buffering=0) as file:
                        file.write(block)
                    written += MIB
            except OSError as error:
                ends.append(f"{place}: {error.strerror}")
        got = written >= most * MIB
        return got, f"wrote {written // MIB} MiB" + ("" if got else f", then: {'; '.join(brief(ends, 4))}")
    finally:
        for folder in made:
            for name in os.listdir(folder):
                os.unlink(f"{folder}/{name}")
            os.rmdir(folder)


def file(most):
    """One file of that size."""
    path = os.path.join(tempfile.mkdtemp(dir="."), "big")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(descriptor, 0, most * MIB)
        else:
            os.lseek(descriptor, 0, os.SEEK_SET)
            for _ in range(most):
                os.write(descriptor, bytes(MIB))
        return True, f"a file of {most} MiB"
    finally:
        os.close(descriptor)
        os.unlink(path)
        os.rmdir(os.path.dirname(path))


def cpu(hundredths):
    """Four programs that only compute, for a second: how much of the processors they had."""
    if not hasattr(os, "fork"):
        return False, "one thread of one program"
    started = time.monotonic()
    children = []
    for _ in range(4):
        child = os.fork()
        if child == 0:
            while time.monotonic() - started < 1:
                pass
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    times = os.times()
    share = (times.children_user + times.children_system) / (time.monotonic() - started)
    return share * 100 > hundredths, f"four programs had {share:.2f} processors"


def output(mebibytes):
    for _ in range(mebibytes):
        os.write(1, bytes(MIB))
    return False, "all of it was taken"


def endless(_):
    while True:
        pass


KINDS = {"endless": endless, "output": output, "memory": memory, "processes": processes, "disk": disk, "file": file, "cpu": cpu}
name, amount = sys.argv[1:]


@attack(f"limits.{name}")
def limits():
    try:
        return KINDS[name](int(amount))
    except MemoryError:
        return False, "refused: out of memory"
    except OSError as error:
        reason = errno.errorcode.get(error.errno or 0, "")
        return False, f"refused: {error.strerror} {reason}".strip()


run_attacks()
