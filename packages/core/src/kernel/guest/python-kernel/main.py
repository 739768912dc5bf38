"""Sets the interpreter up and serves cells."""

import os
import sys
from importlib.machinery import PathFinder

from . import notebook_display, streams
from .cells import PlainCells
from .control import Control
from .interrupts import Interrupts
from .kernel import Kernel
from .loop import Loop


def run(user_path):
    """Takes the search path that `python3` would have, and does not return."""
    sys.argv = [""]
    streams.install()
    interrupts = Interrupts()
    kernel = Kernel(Control(interrupts), interrupts, Loop(interrupts))
    notice = _give_cells(kernel)
    sys.path[:] = user_path
    kernel.serve(notice)


def _give_cells(kernel):
    """Has the kernel use IPython where it is; what to tell the user of one that does not start."""
    # Looked for without an import: most boxes have none, and start in a tenth of the time.
    if os.environ.get("SANDKIT_KERNEL") != "plain" and PathFinder.find_spec("IPython"):
        try:
            from .ipython import IPythonCells

            kernel.cells = IPythonCells(kernel.loop, kernel.show)
            return None
        except Exception as error:
            kernel.cells = _plain_cells(kernel)
            return f"cells run without IPython, which does not start here: {type(error).__name__}: {error}"
    kernel.cells = _plain_cells(kernel)
    return None


def _plain_cells(kernel):
    notebook_display.install(kernel.show)
    return PlainCells(kernel.loop)
