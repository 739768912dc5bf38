"""Evaluates cells that share one `__main__`, without IPython."""

import ast
import builtins
import linecache
import sys
import types

from . import display, magics

_coroutine = 0x80
_await = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


class Cells:
    """The state that cells share."""

    def __init__(self, loop):
        self._loop = loop
        self._main = types.ModuleType("__main__")
        self._main.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = self._main

    def evaluate(self, code, name):
        """Runs a cell; gives its last expression, or None. A trailing semicolon hides it."""
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        tree = self._parse(code, name)
        last = None
        if tree.body and isinstance(tree.body[-1], ast.Expr) and not code.rstrip().endswith(";"):
            last = compile(ast.Expression(tree.body.pop().value), name, "eval", _await)
        value = self._execute(compile(tree, name, "exec", _await))
        return value if last is None else self._execute(last)

    def remember(self, value):
        """Makes the value `_` of the next cells."""
        builtins._ = value

    def bundle(self, value):
        """The forms of a value."""
        return display.bundle(value)

    def _execute(self, compiled):
        result = eval(compiled, self._main.__dict__)
        return self._loop.run(result) if compiled.co_flags & _coroutine else result

    def _parse(self, code, name):
        return parse(code, name)


class PlainCells(Cells):
    """Cells with the part of IPython's syntax that works without it."""

    def __init__(self, loop):
        super().__init__(loop)
        magics.Magics(self._main.__dict__, self._run_timed)

    def _parse(self, code, name):
        """Makes each line that only IPython understands Python, once it is a syntax error."""
        source = magics.translate_cell(code)
        while True:
            try:
                return parse(source, name)
            except SyntaxError as error:
                translated = magics.translate_line(source, error.lineno)
                if translated is None or translated == source:
                    raise
                source = translated

    def _run_timed(self, code):
        return self.evaluate(code, "<cell timed>")


def parse(code, name):
    """The tree of a cell."""
    return compile(code, name, "exec", ast.PyCF_ONLY_AST | _await)
