"""Cells with IPython's syntax, commands and forms. They are evaluated as the plain ones are, with the same results."""

import sys

import IPython
from IPython.core.displaypub import DisplayPublisher
from IPython.core.formatters import DisplayFormatter, PlainTextFormatter
from IPython.core.interactiveshell import ExecutionInfo, ExecutionResult, InteractiveShell
from IPython.utils.text import SList
from traitlets.config import Config

from . import display, frames, magics
from .cells import Cells, parse


class _Publisher(DisplayPublisher):
    show = None

    def publish(self, data, metadata=None, source=None, **options):
        type(self).show(display.modest(data))

    def clear_output(self, wait=False):
        # What a cell has displayed stays: its result is a list, not a screen.
        pass


class _Text(PlainTextFormatter):
    def __call__(self, obj):
        return display.text(obj)


class _Formatter(DisplayFormatter):
    def format(self, obj, include=None, exclude=None):
        if display.registered(obj) is not None:
            return display.bundle(obj), {}
        # A form that fails is left out, the others are shown.
        self.parent.quiet = True
        try:
            return super().format(obj, include, exclude)
        finally:
            self.parent.quiet = False


class _Shell(InteractiveShell):
    display_pub_class = _Publisher
    quiet = False

    def init_display_formatter(self):
        self.display_formatter = _Formatter(parent=self)
        self.configurables.append(self.display_formatter)
        self.display_formatter.formatters["text/plain"] = _Text(parent=self.display_formatter)

    def showtraceback(self, *args, **options):
        if not self.quiet:
            super().showtraceback(*args, **options)

    def enable_gui(self, gui=None):
        pass

    def enable_matplotlib(self, gui=None):
        # Figures are shown in the cell without being asked for.
        return "inline", "agg"

    def system(self, cmd):
        self.user_ns["_exit_code"] = magics.run_command(magics.expand(cmd, sys._getframe(1)))

    system_piped = system_raw = system

    def getoutput(self, cmd, split=True, depth=0):
        output, self.user_ns["_exit_code"] = magics.command_output(magics.expand(cmd, sys._getframe(depth + 1)))
        return SList(output.splitlines()) if split else output


class IPythonCells(Cells):
    """Cells in an InteractiveShell."""

    def __init__(self, loop, show):
        super().__init__(loop)
        _Publisher.show = staticmethod(show)
        self._shell = _Shell.instance(config=_config(), user_module=self._main)
        self._shell.builtin_trap.activate()
        # The interpreter's own raise SystemExit.
        for name in ("exit", "quit"):
            self._main.__dict__.pop(name, None)
            self._shell.builtin_trap.auto_builtins.pop(name, None)
        for name in ("ps1", "ps2", "ps3"):
            vars(sys).pop(name, None)
        frames.hide(IPython.__path__[0])

    def evaluate(self, code, name):
        info = ExecutionInfo(code, False, False, True, name)
        result = ExecutionResult(info)
        trigger = self._shell.events.trigger
        trigger("pre_execute")
        trigger("pre_run_cell", info)
        try:
            result.result = super().evaluate(code, name)
            return result.result
        except BaseException as error:
            result.error_in_exec = error
            raise
        finally:
            trigger("post_execute")
            trigger("post_run_cell", result)

    def remember(self, value):
        self._main.__dict__["_"] = value

    def bundle(self, value):
        forms, _ = self._shell.display_formatter.format(value)
        # Empty: the value has shown itself.
        return display.modest(forms)

    def _parse(self, code, name):
        return parse(self._shell.transform_cell(code), name)


def _config():
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.cache_size = 0
    config.InteractiveShell.colors = "nocolor" if IPython.version_info[0] >= 9 else "NoColor"
    return config
