"""Commands in cells, and packages that code imports: `pip` is run by the host, which has the network."""

import ast
import importlib
import importlib.util
import os
import sys

from . import host
from .magics import Magics, run_command

# Set for jobs whose sandbox installs what their code imports.
auto_install = False


class SandboxMagics(Magics):
    """IPython's commands. What a command installs is found by the next line."""

    def _run_command(self, command):
        try:
            return run_command(command)
        finally:
            importlib.invalidate_caches()


def install_imports(tree):
    """Installs what the code imports and the sandbox lacks, where that is wanted."""
    if auto_install:
        for name in _missing(tree):
            _install(name)


def _install(module):
    result = host.call("command", ["import", module], os.getcwd())
    print(result["stdout"], end="")
    print(result["stderr"], end="", file=sys.stderr)
    importlib.invalidate_caches()
    # A signal that has ended the wait is raised here, and not somewhere in what comes next.
    host.check_signals()


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
