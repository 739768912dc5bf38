"""Commands in cells: there is no shell here, but `pip` is run by the host, which has the network."""

import ast
import importlib
import importlib.util
import os
import shlex
import sys

from . import host
from .magics import Magics, UsageError

# Set for jobs whose sandbox installs what their code imports.
auto_install = False


def run(*argv):
    """Runs a command in the host and writes its output; gives its exit code."""
    result = host.call("command", argv, os.getcwd())
    print(result["stdout"], end="")
    print(result["stderr"], end="", file=sys.stderr)
    importlib.invalidate_caches()
    # One that has ended the wait is raised here, and not somewhere in what comes next.
    host.check_signals()
    return result["exitCode"]


class SandboxMagics(Magics):
    """IPython's commands, without a shell."""

    def _run_command(self, command):
        words = _words(command)
        if words[:1] in (["pip"], ["pip3"]) or words[1:3] == ["-m", "pip"]:
            return run(*words)
        raise UsageError(f"!{command.strip()}: cells have no shell in this sandbox (there are !pip and %pip)")

    def _command_output(self, command):
        raise UsageError(f"!{command.strip()}: cells have no shell in this sandbox")

    def _pip(self, rest):
        run("pip", *_words(rest))

    def _shell(self, rest, body, shell="sh"):
        raise UsageError(f"%%{shell}: cells have no shell in this sandbox")


def _words(command):
    try:
        return shlex.split(command)
    except ValueError as error:
        raise UsageError(f"{command.strip()}: {error}") from None


def install_imports(tree):
    """Installs what the code imports and the sandbox lacks, where that is wanted."""
    if auto_install:
        for name in _missing(tree):
            run("import", name)


def _missing(tree):
    """Top-level modules that are imported and not there, in their order."""
    names = {}
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            names.update(dict.fromkeys(alias.name.partition(".")[0] for alias in node.names))
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names[node.module.partition(".")[0]] = None
        # Who tries an import can do without it.
        waiting.extend([] if isinstance(node, ast.Try) else reversed(list(ast.iter_child_nodes(node))))
    return [name for name in names if name not in sys.modules and not _is_there(name)]


def _is_there(name):
    try:
        return name in sys.stdlib_module_names or importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return True
