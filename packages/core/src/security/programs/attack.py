"""What all programs that attack a sandbox from inside share.

Each attack prints one line: its id, a tab, `got` or `held` or `untried`, a tab, and what happened. `got` means that the
attack had what it wanted. Before it, a line with `begun` names the one that follows; the last line has no id and is
`done`: without it, something has ended the program. The other programs of this folder are joined to this one and run by
`python3 -c`.
"""

import os
import sys

MARK = os.environ.get("SANDKIT_MARK", "")
SIBLING_MARK = os.environ.get("SANDKIT_SIBLING_MARK", "")
# Made before something ended this program.
MADE = os.environ.get("SANDKIT_MADE", "").split()


class Untried(Exception):
    """The attack could not be tried here, and nothing is known."""


class Tries:
    """Several ways to the same thing: one that works is enough."""

    def __init__(self):
        self.got = []
        self.refused = {}

    def attempt(self, what, do):
        try:
            result = do()
        except OSError as error:
            self.refuse(what, error.strerror or str(error))
        else:
            self.got.append(what if result is None else f"{what}: {result}")

    def refuse(self, what, why):
        self.refused.setdefault(why, []).append(what)

    def outcome(self, none="nothing to try"):
        refusals = [f"{', '.join(brief(tried, 3))}: {why}" for why, tried in self.refused.items()]
        return bool(self.got), "; ".join(brief(self.got, 6) or brief(refusals, 4) or [none])


def brief(texts, most=5):
    """The first of them, and how many more there are."""
    return texts[:most] + ([f"{len(texts) - most} more"] if len(texts) > most else [])


def say(name, outcome, saw):
    text = " ".join(str(saw).split())
    print(f"{name}\t{outcome}\t{text[:600]}", flush=True)


ATTACKS = []


def attack(name):
    """Makes the function below it one of those that `run_attacks` tries."""
    return lambda body: ATTACKS.append((name, body))


def run_attacks():
    """An `OSError` is a refusal; what else goes wrong leaves an attack untried."""
    for name, body in ATTACKS:
        if name in MADE:
            continue
        say(name, "begun", "")
        try:
            got, saw = body()
        except Untried as why:
            say(name, "untried", why)
        except OSError as error:
            say(name, "held", error.strerror or error)
        except Exception as error:
            say(name, "untried", f"the attack failed: {type(error).__name__}: {error}")
        else:
            say(name, "got" if got else "held", saw)
    say("", "done", "")


def read(path):
    with open(path, "rb") as file:
        return file.read(1 << 20)


def status():
    """What the kernel says of this process; empty where there is no kernel to ask."""
    try:
        lines = read("/proc/self/status").decode().splitlines()
    except OSError:
        return {}
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


def process_ids():
    try:
        return sorted(int(entry) for entry in os.listdir("/proc") if entry.isdigit())
    except OSError:
        return []


def command_line(pid):
    try:
        return read(f"/proc/{pid}/cmdline")
    except OSError:
        return b""  # it ended, or is not ours to look at


def library():
    import ctypes

    return ctypes.CDLL(None, use_errno=True)
