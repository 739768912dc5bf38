"""Exceptions as the host tells them to the user."""

from . import display
from .frames import without_ours
from .imports import from_library

# A runaway recursion leaves a million, and reading their lines would take longer than the run.
_most_frames = 1000
_longest_message = 100_000


def describe(error):
    """Name, message and traceback of an exception, with the frames of the cells and what they called."""
    frames = without_ours(error.__traceback__)
    while frames is not None and not frames.tb_frame.f_code.co_filename.startswith("<cell "):
        frames = frames.tb_next
    name = display.cut(type.__dict__["__name__"].__get__(type(error)), 1000)
    try:
        message = display.cut(str(error), _longest_message)
    except BaseException as failure:
        message = f"<message raised {type(failure).__name__}>"
    try:
        format_exception = from_library("traceback").format_exception
        lines = format_exception(type(error), error.with_traceback(frames), frames, limit=_most_frames)
        trace = display.cut("".join(lines))
    except BaseException as failure:
        trace = f"{name}: {message}\n<its traceback raised {type(failure).__name__}>\n"
    return {"name": name, "message": message, "traceback": trace}
