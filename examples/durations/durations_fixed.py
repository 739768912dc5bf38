"""Durations as people write them: "1h30m", "45s"."""

import re

SECONDS = {"h": 3600, "m": 60, "s": 1}


def parse_duration(text):
    """The number of seconds in a duration such as "2h5m"."""
    if not re.fullmatch(r"(\d+[hms])+", text):
        raise ValueError(f"not a duration: {text!r}")
    return sum(int(number) * SECONDS[unit] for number, unit in re.findall(r"(\d+)([hms])", text))
