"""What of IPython's own syntax works without it: `!command`, and a few of the `%` commands."""

import builtins
import importlib
import os
import re
import shlex
import subprocess
import sys
import time

_assigned = re.compile(r"^(\s*)([\w.,\[\]'\" ]+?)\s*=\s*([!%])(.*)$", re.DOTALL)
_alone = re.compile(r"^(\s*)([!%])(.*)$", re.DOTALL)


class UsageError(Exception):
    """A command of IPython that is not there."""

    __module__ = "builtins"


def run_command(command):
    """Runs a shell command whose output is the cell's; gives its exit code."""
    return subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL).returncode


def command_output(command):
    """What a shell command prints, and its exit code."""
    done = subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    return done.stdout.decode("utf-8", "replace"), done.returncode


def expand(command, frame):
    """`{expression}` and `$name` with what they are where the command stands; the rest is left to the shell."""

    def value(match):
        expression = match.group(1) or match.group(2)
        try:
            return str(eval(expression, frame.f_globals, frame.f_locals))
        except Exception:
            # The braces and dollars of the shell.
            return match.group(0)

    return re.sub(r"(?<!\$)\{([^{}\n]+)\}|\$([A-Za-z_]\w*)", value, command)


def translate_line(source, number):
    """The source with that line made Python, or None where it is none of these."""
    lines = source.splitlines(True)
    if number is None or not 0 < number <= len(lines):
        return None
    line = lines[number - 1].rstrip("\r\n")
    if match := _alone.match(line):
        indent, kind, rest = match.groups()
        call = f"{indent}{_call(kind, rest)}"
    elif match := _assigned.match(line):
        indent, target, kind, rest = match.groups()
        call = f"{indent}{target} = {_call(kind, rest, captured=kind == '!')}"
    else:
        return None
    lines[number - 1] = f"{call}\n"
    return "".join(lines)


def translate_cell(code):
    """A cell under a `%%` command made Python; any other as it is."""
    head, _, body = code.lstrip().partition("\n")
    return f"__sandkit__.cell({head[2:]!r}, {body!r})" if head.startswith("%%") else code


def _call(kind, rest, captured=False):
    if captured:
        return f"__sandkit__.capture({rest!r})"
    return f"__sandkit__.{'system' if kind == '!' else 'line'}({rest!r})"


class Magics:
    """The builtin `__sandkit__`, which translated code calls."""

    def __init__(self, namespace, run):
        self._namespace = namespace
        self._run = run
        builtins.__sandkit__ = self

    # How commands are run: what another kernel may have to do in a way of its own.
    _run_command = staticmethod(run_command)
    _command_output = staticmethod(command_output)

    def system(self, command):
        """`!command`; `!!` is the same."""
        self._namespace["_exit_code"] = self._run_command(expand(command.lstrip("!"), sys._getframe(1)))

    def capture(self, command):
        """The lines that a shell command prints."""
        output, self._namespace["_exit_code"] = self._command_output(expand(command, sys._getframe(1)))
        return output.splitlines()

    def line(self, text):
        name, _, rest = expand(text, sys._getframe(1)).strip().partition(" ")
        return _find(_lines, f"%{name}")(self, rest.strip())

    def cell(self, head, body):
        name, _, rest = expand(head, sys._getframe(1)).strip().partition(" ")
        return _find(_cells, f"%%{name}")(self, rest.strip(), body)

    def _pip(self, rest):
        subprocess.run([sys.executable, "-m", "pip", *shlex.split(rest)], stdin=subprocess.DEVNULL)
        importlib.invalidate_caches()

    def _cd(self, rest):
        os.chdir(os.path.expanduser(rest.strip("'\"") or "~"))
        print(os.getcwd())

    def _env(self, rest):
        name, equals, value = (part.strip() for part in rest.partition("="))
        if not rest:
            return dict(os.environ)
        if not equals and " " in name:
            name, equals, value = name.partition(" ")
        if not equals:
            return os.environ.get(name)
        os.environ[name] = value
        print(f"env: {name}={os.environ[name]}")

    def _time(self, rest, body=None):
        source = rest if body is None else body
        started, busy = time.perf_counter(), time.process_time()
        try:
            return self._run(source)
        finally:
            print(f"CPU time: {_duration(time.process_time() - busy)}")
            print(f"Wall time: {_duration(time.perf_counter() - started)}")

    def _timeit(self, rest, body=None):
        import timeit

        chosen, rest = _take_counts(rest)
        setup, statement = ("pass", rest) if body is None else (rest or "pass", body)
        timer = timeit.Timer(statement, setup, globals=self._namespace)
        count = chosen.get("n") or timer.autorange()[0]
        runs = chosen.get("r") or 5
        best = min(timer.repeat(runs, count)) / count
        print(f"{_duration(best)} per loop (best of {runs} runs of {count} loops)")

    def _shell(self, rest, body, shell="sh"):
        done = subprocess.run([shell, "-c", body, shell, *shlex.split(rest)], stdin=subprocess.DEVNULL)
        if done.returncode:
            raise subprocess.CalledProcessError(done.returncode, shell)

    def _writefile(self, rest, body):
        *flags, path = shlex.split(rest)
        there = os.path.exists(path)
        with open(path, "a" if flags == ["-a"] else "w", encoding="utf-8") as file:
            file.write(body)
        print(f"{'Appending to' if flags else 'Overwriting' if there else 'Writing'} {path}")


_lines = {
    "%pip": lambda magics, rest: magics._pip(rest),
    "%cd": Magics._cd,
    "%pwd": lambda magics, rest: os.getcwd(),
    "%env": Magics._env,
    "%time": Magics._time,
    "%timeit": Magics._timeit,
    # Figures are shown in the cell without being asked for.
    "%matplotlib": lambda magics, rest: None,
}
_cells = {
    "%%time": Magics._time,
    "%%timeit": Magics._timeit,
    "%%sh": lambda magics, rest, body: magics._shell(rest, body),
    "%%bash": lambda magics, rest, body: magics._shell(rest, body, "bash"),
    "%%writefile": Magics._writefile,
    "%%file": Magics._writefile,
}


def _find(commands, name):
    if name in commands:
        return commands[name]
    known = ", ".join(commands)
    raise UsageError(f"{name} needs IPython, which this kernel runs without (it has: !command, {known})")


def _take_counts(text):
    """The options `-n LOOPS` and `-r RUNS` before a statement, and the statement."""
    chosen = {}
    while match := re.match(r"\s*-([nr])\s*(\d+)(?:\s+|$)", text):
        chosen[match.group(1)] = int(match.group(2))
        text = text[match.end() :]
    if re.match(r"\s*-[a-z]\b", text):
        raise UsageError(f"%timeit {text.strip()[:2]} needs IPython, which this kernel runs without (it has -n and -r)")
    return chosen, text


def _duration(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
