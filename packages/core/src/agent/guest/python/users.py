"""Which user a program is started as, where that is not the agent's own."""

import errno
import os

from .native import Failure, encoded, field

MAX_ID = 2**31 - 1


def may_become_others():
    return os.geteuid() == 0


def records(path):
    try:
        with open(path, "rb") as file:
            return [line.rstrip(b"\n").split(b":") for line in file]
    except FileNotFoundError:
        return []


def user_field(request):
    """The user of a request as (uid, gid, groups), with its variables; None for the agent's own."""
    text = field(request, "user", str, optional=True)
    if text is None:
        return None, {}
    if not may_become_others():
        raise Failure(errno.ENOTSUP, "the agent of this box is no root, and cannot start programs as other users")
    name = encoded(text)
    known = [fields for fields in records("/etc/passwd") if len(fields) >= 7]
    uid, separator, gid = name.partition(b":")
    if separator and uid.isdigit() and gid.isdigit() and max(int(uid), int(gid)) <= MAX_ID:
        found = next((fields for fields in known if fields[2] == uid), None)
        return (int(uid), int(gid), [int(gid)]), variables(found)
    found = next((fields for fields in known if fields[0] == name), None)
    if found is None:
        raise Failure(errno.EINVAL, "the sandbox's /etc/passwd has no such user")
    groups = [int(fields[2]) for fields in records("/etc/group") if len(fields) >= 4 and name in fields[3].split(b",")]
    return (int(found[2]), int(found[3]), [int(found[3]), *groups]), variables(found)


def variables(found):
    """What a login would set."""
    if found is None:
        return {b"HOME": b"/"}
    return {b"HOME": found[5] or b"/", b"USER": found[0], b"LOGNAME": found[0]}
