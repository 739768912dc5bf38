"""What programs import from `IPython.display`, for cells without IPython's shell."""

import builtins

from . import display
from .patches import Patches


def install(show):
    """Has IPython's functions show by `show`, which takes bundles; they would print."""

    def patch(module):
        def show_all(*values, raw=False, display_id=None, **options):
            builtins.display(*values, raw=raw)
            if display_id is not None:
                return module.DisplayHandle(None if display_id is True else display_id)

        module.display = show_all
        module.publish_display_data = lambda data, *args, **options: show(display.modest(data))
        # What a cell has displayed stays: its result is a list, not a screen.
        module.clear_output = lambda wait=False: None

    Patches({"IPython.core.display_functions": patch}).install()
