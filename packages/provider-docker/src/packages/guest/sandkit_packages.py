"""Puts the packages that a sandbox was made with before those of its image: behind the standard library, and behind
what was installed since. Loaded by a line beside it, sandkit-packages.pth, when the interpreter starts."""

import os
import site
import sys

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "sandkit-packages.txt"), encoding="utf-8") as note:
    folder = note.read().rstrip("\n")

before = list(sys.path)
site.addsitedir(folder)
added = [path for path in sys.path if path not in before]
first = before.index(here) if here in before else len(before)
sys.path[:] = before[:first] + added + before[first:]
