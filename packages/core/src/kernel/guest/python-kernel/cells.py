"""Compiles and evaluates cells in one `__main__`, without IPython."""

import ast
import builtins
import linecache
import sys
import types

from . import magics

_coroutine = 0x80
_await = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT


class Cells:
    """The state that cells share."""

    def __init__(self, loop):
        self._loop = loop
        self._main = types.ModuleType("__main__")
        self._main.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = self._main
        magics.install(self._main.__dict__)

    def evaluate(self, code, name):
        """Runs a cell; gives its last expression, or None."""
        code = magics.whole_cell(code)
        body, last = _compile(code, name)
        value = self._execute(body)
        return value if last is None else self._execute(last)

    def remember(self, value):
        """Makes the value `_` of the next cells."""
        builtins._ = value

    def bundle(self, value):
        """Forms of a value beyond those that it has by itself."""
        return {}

    def _execute(self, compiled):
        result = eval(compiled, self._main.__dict__)
        return self._loop.run(result) if compiled.co_flags & _coroutine else result


def _compile(code, name):
    """The cell without its last expression, and that expression; a trailing semicolon hides its value."""
    code, tree = _parse(code, name)
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    last = None
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not code.rstrip().endswith(";"):
        last = compile(ast.Expression(tree.body.pop().value), name, "eval", _await)
    return compile(tree, name, "exec", _await), last


def _parse(code, name):
    """The code and its tree, with the lines that only IPython understands made Python: one for each syntax error."""
    source = code
    while True:
        try:
            return code, compile(source, name, "exec", ast.PyCF_ONLY_AST | _await)
        except SyntaxError as error:
            # Lines of the source and of the code are the same ones: a tree has no other memory of its text.
            linecache.cache[name] = (len(code), None, code.splitlines(True), name)
            translated = magics.translate_line(source, error.lineno)
            if translated is None:
                raise
            source = translated
