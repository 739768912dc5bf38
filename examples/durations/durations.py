"""Durations as people write them: "1h30m", "45s"."""

import re

SECONDS = {"h": 3600, "m": 60, "s": 1}


def parse_duration(text):
    """The number of seconds in a duration such as "2h5m"."""
    number, unit = re.match(r"(\d+)([hms])", text).groups()
    return int(number) * SECONDS[unit]
