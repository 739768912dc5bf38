"""Runs pieces of Python one after the other, keeping what they define.

In, on stdin: one JSON object per line with `code` and `envs`. Out, on stdout: one JSON object per line, of type
`stdout`, `stderr`, `error`, and `control` at the end of each piece. What child processes write comes on stderr.
"""

import json
import os
import signal
import sys
import traceback

events = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
os.dup2(2, 1)
NAME = "<interpreter>"


def tell(kind, **fields):
    events.write(json.dumps({"type": kind, **fields}) + "\n")
    events.flush()


class Stream:
    encoding = "utf-8"
    errors = "backslashreplace"

    def __init__(self, kind, descriptor):
        self.kind = kind
        self.descriptor = descriptor

    def write(self, text):
        if text:
            tell(self.kind, text=text)
        return len(text)

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def flush(self):
        pass

    def isatty(self):
        return False

    def fileno(self):
        return self.descriptor


def run(code, names):
    """Gives how it ended, as a word."""
    try:
        exec(compile(code, NAME, "exec"), names)
    except KeyboardInterrupt:
        return "interrupted"
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)[1:]
        lines = traceback.format_list(frames) + traceback.format_exception_only(type(error), error)
        tell("error", name=type(error).__name__, value=str(error), traceback="".join(lines))
    return "completed"


def main():
    names = {"__name__": "__main__"}
    # Interrupts are for code that runs; this one waits for the next in peace.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout, sys.stderr = Stream("stdout", 1), Stream("stderr", 2)
    requests, sys.stdin = sys.stdin, open(os.devnull)
    for line in requests:
        request = json.loads(line)
        before = dict(os.environ)
        os.environ.update(request["envs"])
        signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            ended = run(request["code"], names)
        finally:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        os.environ.clear()
        os.environ.update(before)
        tell("control", text=ended)


main()
