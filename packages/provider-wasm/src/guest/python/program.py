"""`python` with its command line: a script, `-c`, `-m` or standard input, run as `__main__`."""

import ast
import atexit
import builtins
import linecache
import os
import runpy
import signal
import sys
import traceback
import types
import warnings

from . import commands, host, streams
from .exit_code import exit_code
from .frames import without_ours

_harmless = set("bBdEIPqRsSu")
_usage = "usage: python3 [-B] [-E] [-I] [-u] [-W arg] [-X arg] [-c cmd | -m mod | file | -] [arg] ..."


class UsageError(Exception):
    """The command line cannot be honoured here."""


def run(argv, executable):
    """Runs the program and returns its exit code, or the name of the signal that ends it."""
    try:
        _parse(argv[1:], executable)()
        code = 0
    except UsageError as error:
        print(f"{error}\n{_usage}", file=sys.stderr)
        code = 2
    except SystemExit as error:
        code = exit_code(error)
    except KeyboardInterrupt as error:
        _report(error)
        code = "SIGINT"
    except BaseException as error:
        _report(error)
        code = 1
    return _finish(code)


def _finish(code):
    atexit._run_exitfuncs()
    try:
        sys.stdout.flush()
    except (AttributeError, ValueError):
        # Closed or replaced by the program, as CPython allows.
        pass
    except OSError as error:
        print(f"Exception ignored while flushing sys.stdout:\n{error!r}", file=sys.stderr)
        code = 120
    return code


def _parse(arguments, executable):
    """What is to be done, as a function."""
    rest = list(arguments)
    while rest and rest[0].startswith("-") and rest[0] != "-":
        option = rest.pop(0)
        if option in ("--version", "-V", "-VV"):
            return lambda: print(f"Python {sys.version.split()[0]}")
        if option in ("--help", "-h", "-?"):
            return lambda: print(_usage)
        if option.startswith("--"):
            raise UsageError(f"unknown option {option}")
        letters = option[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter in "cmWX":
                value = letters or (rest.pop(0) if rest else None)
                if value is None:
                    raise UsageError(f"Argument expected for the -{letter} option")
                if letter == "c":
                    return lambda: _run_command(value, rest)
                if letter == "m":
                    return lambda: _run_module(value, rest)
                _set(letter, value)
                break
            if letter not in _harmless:
                raise UsageError(f"option -{letter} is not available in this sandbox")
            if letter == "u":
                streams.install(buffered=False)
    if not rest or rest[0] == "-":
        return lambda: _run_input(rest)
    return lambda: _run_file(rest, executable)


def _set(letter, value):
    if letter == "W":
        warnings._processoptions([value])
    elif value.split("=")[0] not in ("utf8", "faulthandler", "frozen_modules", "no_debug_ranges"):
        raise UsageError(f"option -X {value} is not available in this sandbox")


def _main_module(**attributes):
    module = types.ModuleType("__main__")
    module.__dict__.update(__builtins__=builtins, **attributes)
    sys.modules["__main__"] = module
    return module.__dict__


def _run_source(source, name, namespace):
    if commands.auto_install:
        commands.install_imports(compile(source, name, "exec", ast.PyCF_ONLY_AST, dont_inherit=True))
    exec(compile(source, name, "exec", dont_inherit=True), namespace)


def _run_command(source, arguments):
    sys.argv = ["-c", *arguments]
    sys.path.insert(0, "")
    name = "<string>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    _run_source(source, name, _main_module())


def _run_input(arguments):
    sys.argv = arguments or [""]
    sys.path.insert(0, "")
    source = sys.stdin.buffer.read()
    name = "<stdin>"
    lines = source.decode("utf-8", "replace").splitlines(True)
    linecache.cache[name] = (len(source), None, lines, name)
    _run_source(source, name, _main_module())


def _run_module(name, arguments):
    sys.argv = ["-m", *arguments]
    sys.path.insert(0, os.getcwd())
    _main_module()
    runpy._run_module_as_main(name)


def _run_file(argv, executable):
    path = argv[0]
    sys.argv = argv
    if os.path.isdir(path) or path.endswith((".zip", ".pyz", ".whl")):
        sys.path.insert(0, path)
        _main_module()
        runpy._run_module_as_main("__main__", False)
        return
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        print(
            f"{executable}: can't open file {os.path.abspath(path)!r}: [Errno {error.errno}] {error.strerror}",
            file=sys.stderr,
        )
        raise SystemExit(2) from None
    sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    _run_source(source, path, _main_module(__file__=os.path.abspath(path), __cached__=None))


def _report(error):
    """Prints the exception through the program's own hook, without our own frames."""
    frames = without_ours(error.__traceback__)
    error = error.with_traceback(frames)
    try:
        sys.stdout.flush()
        sys.excepthook(type(error), error, frames)
    except Exception as failure:
        print("Error in sys.excepthook:", file=sys.stderr)
        traceback.print_exception(failure)
        print("\nOriginal exception was:", file=sys.stderr)
        traceback.print_exception(error)


def install_exit():
    """`os._exit` and `os.kill` on oneself end the worker, not just the interpreter in it."""

    def _exit(status):
        host.call("exit", status & 0xFF)

    def kill(pid, signalnum):
        if pid not in (0, os.getpid()):
            raise ProcessLookupError(3, "No such process")
        signal.raise_signal(signalnum) if signal.getsignal(signalnum) else host.call("exit", signal.Signals(signalnum).name)

    os._exit = _exit
    os.kill = kill
