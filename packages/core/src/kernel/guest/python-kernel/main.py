"""Sets the interpreter up and serves cells."""

import os
import sys

from . import streams
from .cells import Cells
from .control import Control
from .interrupts import Interrupts
from .kernel import Kernel
from .loop import Loop


def run(user_path):
    """Takes the search path that `python3` would have, and does not return."""
    sys.path[:] = user_path
    sys.argv = [""]
    streams.install()
    interrupts = Interrupts()
    loop = Loop(interrupts)
    Kernel(Control(interrupts), interrupts, loop, Cells(loop)).serve()
