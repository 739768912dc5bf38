"""Compiled code of packages, kept for the next interpreter."""

import importlib.machinery
import sys


def keep_below(directory):
    """Elsewhere it would litter the workspace, and hide an edit made within the same second."""
    loader = importlib.machinery.SourceFileLoader
    keep = loader._cache_bytecode

    def cache_bytecode(self, source_path, bytecode_path, data):
        if source_path.startswith(f"{directory}/"):
            keep(self, source_path, bytecode_path, data)

    loader._cache_bytecode = cache_bytecode
    sys.dont_write_bytecode = False
