"""What Python offers not at all, or only through modules whose import would double the time of the agent's start."""

import errno
import os

import _ctypes
import _json

PR_SET_DUMPABLE, PR_SET_CHILD_SUBREAPER = 4, 36
RTLD_NOW = 2
# What a double holds exactly: the largest number that a host can mean.
MAX_NUMBER = 2**53 - 1


class _Int(_ctypes._SimpleCData):
    _type_ = "i"


class _Function(_ctypes.CFuncPtr):
    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    _restype_ = _Int


_prctl = _Function(_ctypes.dlsym(_ctypes.dlopen(None, RTLD_NOW), "prctl"))


def prctl(option, value):
    if _prctl(option, value, 0, 0, 0) != 0:
        raise OSError(_ctypes.get_errno(), "prctl")


class Failure(Exception):
    """Why a request fails, as the host is told."""

    def __init__(self, number, message, path=None):
        super().__init__(message)
        self.errno = errno.errorcode.get(number, "EIO")
        self.message = message
        self.path = path

    @classmethod
    def of(cls, error, path=None):
        """The failure for any exception; one that nobody foresaw shows where it came from."""
        if isinstance(error, Failure):
            return error
        if isinstance(error, OSError) and error.errno is not None:
            return cls(error.errno, os.strerror(error.errno), path and path.decode("utf-8", "replace"))
        if isinstance(error, MemoryError):
            return cls(errno.ENOMEM, "the agent has no memory left for this")
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        line = trace.tb_lineno if trace is not None else 0
        return cls(errno.EIO, "defect of the agent, line %d: %s: %s" % (line, type(error).__name__, error))

    def told(self):
        """As JSON for the host."""
        told = {"errno": self.errno, "message": self.message}
        return told if self.path is None else {**told, "path": self.path}


def _no_constant(name):
    raise ValueError(name)


class _Scanning:
    strict = True
    object_hook = object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = _no_constant
    memo = {}


_scan = _json.make_scanner(_Scanning)


def from_json(payload):
    """The value of JSON. Raises ValueError, also for one that is nested too deeply."""
    try:
        text = str(payload, "utf-8").strip(" \t\r\n")
        value, end = _scan(text, 0)
    except (StopIteration, RecursionError) as error:
        raise ValueError("no JSON") from error
    if end != len(text):
        raise ValueError("more than one JSON value")
    return value


def to_json(value):
    if isinstance(value, str):
        return _json.encode_basestring_ascii(value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, dict):
        return "{" + ",".join(to_json(name) + ":" + to_json(member) for name, member in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(to_json(member) for member in value) + "]"
    return str(int(value))


def field(request, name, kind, optional=False):
    """A member of a request, which must be of this type (or null, when it is optional)."""
    value = request.get(name)
    if value is None and optional:
        return None
    # True is an int to Python, but not to JSON.
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise Failure(errno.EINVAL, "%s: %r is missing or of the wrong type" % (request.get("op"), name))
    return value


def number_field(request, name, lowest=0, highest=MAX_NUMBER, optional=False):
    value = field(request, name, (int, float), optional)
    if value is not None and not (lowest <= value <= highest and value == int(value)):
        message = "%s: %r must be a whole number from %d to %d" % (request.get("op"), name, lowest, highest)
        raise Failure(errno.EINVAL, message)
    return None if value is None else int(value)


def seconds_field(request, name, optional=False):
    """A time that is given in milliseconds."""
    value = field(request, name, (int, float), optional)
    if value is not None and not 0 <= value <= MAX_NUMBER:
        raise Failure(errno.EINVAL, "%s: %r must be from 0 to %d" % (request.get("op"), name, MAX_NUMBER))
    return None if value is None else value / 1000


def encoded(text):
    """Text of the host as bytes for the system."""
    if not isinstance(text, str):
        raise Failure(errno.EINVAL, "text was expected")
    if "\0" in text:
        raise Failure(errno.EINVAL, "text for the system cannot hold a NUL")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Failure(errno.EILSEQ, "half of a surrogate pair has no bytes") from None


def path_field(request, name, optional=False):
    text = field(request, name, str, optional)
    if text is None:
        return None
    path = encoded(text)
    if not path.startswith(b"/"):
        raise Failure(errno.EINVAL, "%s: %r must be an absolute path" % (request.get("op"), name))
    return path


def environment_field(request, name):
    return {encoded(key): encoded(value) for key, value in field(request, name, dict).items()}
