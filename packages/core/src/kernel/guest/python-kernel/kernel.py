"""One interpreter state, and the cells that the host has it run."""

import importlib
import json
import os
import sys

from . import display, figures, streams
from .exit_code import exit_code
from .failures import describe

# Between two cells, in a row, before nothing can be heard any more.
_most_failures = 100
# Of what a cell displays, in bytes of JSON. The host takes twice that.
_longest_outputs = 32_000_000


class Kernel:
    """Runs one cell after the other until the host has gone."""

    def __init__(self, control, interrupts, loop):
        self._control = control
        self._interrupts = interrupts
        self.loop = loop
        self.cells = None
        self._count = 0
        self._id = None
        self._left = _longest_outputs
        # Displayed between cells, by a thread or a task: the next cell shows them.
        self._early = []
        self._forked = False
        display.install(self.show)
        figures.install(self.show)
        os.register_at_fork(before=streams.flush, after_in_child=self._fork)

    def serve(self, notice):
        """Does not return. The notice is for the user, on stderr of the first cell."""
        self._interrupts.arm()
        self._control.send('{"ready":true}')
        if notice is not None:
            print(notice, file=sys.stderr)
        failures = 0
        while True:
            try:
                self.loop.idle(self._control)
                message = self._control.read()
            except Exception as error:
                # A handler of the user's, for a signal that came between two cells; or what a cell has closed or taken.
                sys.excepthook(type(error), error, error.__traceback__)
                failures += 1
                if failures == _most_failures:
                    os._exit(1)
                continue
            failures = 0
            if message is None:
                os._exit(0)
            self._run(message["id"], message["code"])

    def show(self, forms):
        """Displays a bundle."""
        if self._forked:
            # Another process speaks with the host.
            print(forms.get("text/plain", ""))
            return
        text = json.dumps(forms, allow_nan=False)
        if len(text) > self._left:
            print(f"display: an output is left out: {_longest_outputs} bytes are the most", file=sys.stderr)
            return
        self._left -= len(text)
        if self._id is None:
            self._early.append(text)
        else:
            self._control.send(f'{{"id":{self._id},"display":{text}}}')

    def _run(self, number, code):
        self._begin(number)
        result = {"exitCode": 0}
        value = None
        try:
            value = self._interrupts.during(self._evaluate, code)
        except SystemExit as error:
            result["exitCode"] = exit_code(error)
        except BaseException as error:
            self._interrupts.stop()
            result["exitCode"] = 1
            result["error"] = describe(error)
        self.loop.settle()
        if self._forked:
            _end_fork(result)
        self._end(number, result, value)

    def _begin(self, number):
        self._interrupts.arm()
        streams.reopen_stdin()
        # Modules that were written a moment ago must be found.
        try:
            importlib.invalidate_caches()
        except Exception as error:
            # A finder of the user's: the cell may be what takes it out.
            sys.excepthook(type(error), error, error.__traceback__)
        self._count += 1
        self._id = number
        self._control.send(f'{{"id":{number},"started":true}}')
        early, self._early = self._early, []
        for text in early:
            self._control.send(f'{{"id":{number},"display":{text}}}')

    def _evaluate(self, code):
        """Runs the code and shows its value; gives that as JSON text, where it has one."""
        self.loop.prepare(code)
        try:
            value = self.cells.evaluate(code, f"<cell {self._count}>")
            if value is None:
                return None
            self.cells.remember(value)
            forms, text = self.cells.bundle(value), display.json_value(value)
        finally:
            figures.show_open(self.show)
        if forms:
            self.show(forms)
        return text

    def _end(self, number, result, value):
        streams.reopen_outputs()
        streams.flush()
        fields = json.dumps(result)
        if value is not None:
            fields = f'{fields[:-1]},"value":{value}}}'
        self._id = None
        self._left = _longest_outputs
        self._control.send(f'{{"id":{number},"done":{fields}}}')

    def _fork(self):
        if self._forked:
            # A fork of a fork has nothing of the host's any more.
            return
        self._forked = True
        self._control.forget()
        streams.forget()
        self.loop.forget()


def _end_fork(result):
    """A fork that comes to the end of the cell has done its work: the cells go on in the other process."""
    if "error" in result:
        print(result["error"]["traceback"], end="", file=sys.stderr)
    streams.flush()
    os._exit(result["exitCode"])
