"""Imports that a file of the user cannot take the place of."""

import importlib
import os
import sys


def from_library(name):
    """Imports a module of the standard library, also where the working directory has one of that name."""
    try:
        here = os.getcwd()
    except OSError:
        # It has been removed: nothing can be imported from there.
        here = None
    held = sys.path[:]
    sys.path[:] = [entry for entry in held if entry and entry != here]
    try:
        return importlib.import_module(name)
    finally:
        sys.path[:] = held
