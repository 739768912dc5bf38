"""Cells: code that shares one `__main__`."""

import ast
import asyncio
import builtins
import fcntl
import importlib
import inspect
import linecache
import os
import signal
import sys
import types

from . import commands, display, figures, host, magics
from .exit_code import exit_code
from .failures import describe
from .loop import SandboxLoop

# Of a cell's result, in bytes of JSON. The broker takes twice that.
_longest_outputs = 32_000_000
# Where stdout and stderr are kept, far from the numbers that files get.
_first_kept_descriptor = 1_000


class Kernel:
    """One interpreter state and the cells that are run in it."""

    def __init__(self):
        self._main = types.ModuleType("__main__")
        self._main.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = self._main
        self._loop = SandboxLoop()
        asyncio.set_event_loop(self._loop)
        self._count = 0
        self._outputs = []
        self._evaluating = False
        self._kept = {number: fcntl.fcntl(number, fcntl.F_DUPFD, _first_kept_descriptor) for number in (1, 2)}
        signal.signal(signal.SIGINT, self._on_interrupt)
        display.install(self._outputs.append)
        figures.install(self._outputs.append)
        commands.SandboxMagics(self._main.__dict__, self._timed)

    def _on_interrupt(self, signalnum, frame):
        # One that comes after its cell has ended must not hit the driver.
        if self._evaluating:
            raise KeyboardInterrupt

    def serve(self):
        """Runs one cell after the other until the worker is ended."""
        while True:
            code = self._loop.idle(_next_cell)
            host.call("done", self._run(code))

    def _run(self, code):
        self._outputs.clear()
        # Modules that were written a moment ago must be found.
        importlib.invalidate_caches()
        result = {"exitCode": 0}
        try:
            self._evaluate_and_show(code, result)
        except SystemExit as error:
            result["exitCode"] = exit_code(error)
        except BaseException as error:
            result["exitCode"] = 1
            result["error"] = describe(error)
        self._open_again()
        result["outputs"] = self._fitting_outputs()
        for stream in (sys.stdout, sys.stderr):
            _flush(stream)
        return result

    def _open_again(self):
        """A cell that closed stdout or stderr has silenced itself, and not those after it."""
        for number, kept in self._kept.items():
            try:
                fcntl.fcntl(number, fcntl.F_GETFD)
            except OSError:
                os.dup2(kept, number)

    def _evaluate_and_show(self, code, result):
        """Shows the figures that are left open, and after them the value."""
        forms = None
        try:
            value = self._evaluate(code)
            if value is not None:
                builtins._ = value
                forms = self._interruptible(self._present, value, result)
        finally:
            self._interruptible(figures.show_open, self._outputs.append)
        if forms:
            self._outputs.append(forms)

    def _present(self, value, result):
        text = display.json_value(value)
        if text is not None:
            result["value"] = text
        return display.bundle(value)

    def _fitting_outputs(self):
        """The outputs that one message carries, in order; those that do not fit are named on stderr."""
        fitting, left = [], _longest_outputs
        for output in self._outputs:
            size = display.size(output)
            if size is None or size > left:
                print(f"display: an output is left out: {_longest_outputs} bytes are the most", file=sys.stderr)
                continue
            left -= size
            fitting.append(output)
        return fitting

    def _evaluate(self, code):
        self._count += 1
        return self._run_source(code, f"<cell {self._count}>")

    def _timed(self, code):
        return self._run_source(code, "<cell timed>")

    def _run_source(self, code, name):
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        body, last = _compile(code, name)
        namespace = self._main.__dict__
        self._execute(body, namespace)
        return None if last is None else self._execute(last, namespace)

    def _execute(self, compiled, namespace):
        if compiled.co_flags & inspect.CO_COROUTINE:
            return self._interruptible(lambda: self._loop.run_interruptible(eval(compiled, namespace)))
        return self._interruptible(eval, compiled, namespace)

    def _interruptible(self, action, *args):
        self._evaluating = True
        try:
            return action(*args)
        finally:
            self._evaluating = False


def rehearse():
    """Does once what every cell needs, so that V8 has compiled it when the first one comes. Leaves nothing behind."""
    body, last = _compile("0\n0", "<rehearsal>")
    exec(body, {})
    value = eval(last, {})
    display.json_value(value)
    display.bundle(value)
    first = SandboxLoop()
    first.idle(lambda timeout: True)
    first.close()


def _next_cell(timeout):
    return host.call("cell", timeout * 1000)


def _compile(code, name):
    """The cell without its last expression, and that expression; a trailing semicolon hides its value."""
    tree = _parse(code, name)
    commands.install_imports(tree)
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not code.rstrip().endswith(";"):
        expression = ast.Expression(tree.body.pop().value)
        last = compile(expression, name, "eval", flags)
    return compile(tree, name, "exec", flags), last


def _parse(code, name):
    """Makes each line that only IPython understands Python, once it is a syntax error."""
    source = magics.translate_cell(code)
    while True:
        try:
            return compile(source, name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        except SyntaxError as error:
            translated = magics.translate_line(source, error.lineno)
            if translated is None or translated == source:
                raise
            source = translated


def _flush(stream):
    try:
        stream.flush()
    except Exception:
        # The cell may have put anything here, or closed it; its result stands all the same.
        pass
