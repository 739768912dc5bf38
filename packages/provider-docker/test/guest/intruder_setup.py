"""Setup of a package with bad intentions: tries what it must not, and installs a module that tells how that went."""

import os
import pathlib
import subprocess

from setuptools import setup

tried = {}


def attempt(name, act):
    try:
        act()
        tried[name] = "done"
    except OSError as error:
        tried[name] = error.strerror


def status(key):
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key):
            return line.split()[1]


attempt("program", lambda: pathlib.Path("/usr/bin/python3-own").write_text(""))
attempt("library", lambda: pathlib.Path("/usr/lib/python3/dist-packages/own.py").write_text(""))
attempt("start", lambda: pathlib.Path("/usr/local/lib/python3.11/dist-packages/own.pth").write_text(""))
attempt("accounts", lambda: pathlib.Path("/etc/passwd").write_text(""))
attempt("everybody's", lambda: pathlib.Path("/var/tmp/own").write_text(""))
attempt("device", lambda: os.mknod("/opt/sandkit/python/device", 0o600 | 0o020000, os.makedev(1, 3)))
# A link that leads out, and what would go through it when it is followed.
attempt("link", lambda: os.symlink("/usr/bin", "/opt/sandkit/python/out"))
subprocess.Popen(["sh", "-c", "exec setsid sleep 600"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
tried["user"] = os.getuid()
tried["capabilities"] = int(status("CapEff:"), 16)
tried["filter"] = status("Seccomp:")
tried["new privileges"] = status("NoNewPrivs:")

pathlib.Path("intruder.py").write_text(f"TRIED = {tried!r}\n")
setup(name="intruder", version="1.0", py_modules=["intruder"])
