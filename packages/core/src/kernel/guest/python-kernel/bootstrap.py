"""Reads the modules of the driver, one line of JSON on descriptor 3, and starts it. Given to `python3 -c`."""

import sys

# Nothing of ours may come from the user's folder, which `-c` puts first; main.py puts it back.
_user_path = sys.path[:]
if sys.path and sys.path[0] == "":
    del sys.path[0]

import json  # noqa: E402
import os  # noqa: E402
from importlib.machinery import ModuleSpec  # noqa: E402


class _Sources:
    """Finds and loads the modules of the driver; their frames carry names in `folder`."""

    folder = "<sandkit>/"

    def __init__(self, sources):
        self._sources = sources

    def find_spec(self, name, path=None, target=None):
        package, _, module = name.partition(".")
        if package != "_sandkit" or (module or "__init__") not in self._sources:
            return None
        return ModuleSpec(name, self, origin=f"{self.folder}{module or '__init__'}.py", is_package=not module)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        spec = module.__spec__
        exec(compile(self.get_source(spec.name), spec.origin, "exec", dont_inherit=True), module.__dict__)

    def get_source(self, name):
        return self._sources[name.partition(".")[2] or "__init__"]


def _read_line():
    chunks = []
    while not chunks or not chunks[-1].endswith(b"\n"):
        chunk = os.read(3, 1 << 20)
        if not chunk:
            os._exit(0)
        chunks.append(chunk)
    return b"".join(chunks)


sys.meta_path.append(_Sources({"__init__": "", **json.loads(_read_line())}))

from _sandkit.main import run  # noqa: E402

run(_user_path)
