"""Compiles and evaluates cells in one `__main__`, without IPython."""

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
        magics.Magics(self._main.__dict__)

    def evaluate(self, code, name):
        """Runs a cell; gives its last expression, or None."""
        body, last = compile_cell(code, name)
        value = self._execute(body)
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


def compile_cell(code, name):
    """The cell without its last expression, and that expression; a trailing semicolon hides its value."""
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    tree = _parse(magics.translate_cell(code), name)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not code.rstrip().endswith(";"):
        last = compile(ast.Expression(tree.body.pop().value), name, "eval", _await)
    return compile(tree, name, "exec", _await), last


def _parse(source, name):
    """The tree of the code, with each line that only IPython understands made Python once it is a syntax error."""
    while True:
        try:
            return compile(source, name, "exec", ast.PyCF_ONLY_AST | _await)
        except SyntaxError as error:
            translated = magics.translate_line(source, error.lineno)
            if translated is None or translated == source:
                raise
            source = translated
