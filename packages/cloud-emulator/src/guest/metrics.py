"""Prints what the machine uses, as JSON."""

import json
import os
import sys
import time


def processor_times():
    with open("/proc/stat") as stat:
        times = [int(value) for value in stat.readline().split()[1:9]]
    return sum(times), times[3] + times[4]


def memory():
    with open("/proc/meminfo") as info:
        lines = dict(line.split(":", 1) for line in info)
    return {name: int(lines[name].split()[0]) * 1024 for name in ("MemTotal", "MemAvailable", "Cached")}


def main():
    total, idle = processor_times()
    time.sleep(0.1)
    later, idle_later = processor_times()
    share = 1 - (idle_later - idle) / max(1, later - total)
    sizes = memory()
    disk = os.statvfs(sys.argv[1])
    print(
        json.dumps(
            {
                "cpu_count": os.cpu_count() or 1,
                "cpu_used_pct": round(100 * share, 2),
                "mem_total": sizes["MemTotal"],
                "mem_used": sizes["MemTotal"] - sizes["MemAvailable"],
                "mem_cache": sizes["Cached"],
                "disk_total": disk.f_blocks * disk.f_frsize,
                "disk_used": (disk.f_blocks - disk.f_bfree) * disk.f_frsize,
            }
        )
    )


main()
