"""Entry of the driver: sets the interpreter up for its one job, and does it."""

import os
import random
import sys

from . import bytecode, commands, host, kernel, loop, network, processes, program, signals, streams

# Where the host installs packages.
_packages = "/usr/local/lib/python3.14/site-packages"


def run(call, sleep, exchange):
    """Waits for the job and does it; the broker ends the worker afterwards."""
    host.connect(call, sleep, exchange)
    signals.install()
    program.install_exit()
    processes.install()
    _prepare()
    job = host.call("job")
    _set_up(job)
    if job["kind"] == "kernel":
        streams.install(buffered=False)
        sys.path.insert(0, "")
        kernel.Kernel().serve()
    else:
        streams.install(buffered="PYTHONUNBUFFERED" not in os.environ)
        host.call("exit", program.run(job["argv"], job["argv"][0]))


def _prepare():
    """What needs no job is done while none is there: what a snapshot freezes and every interpreter has of its own."""
    loop.install()
    network.install()
    random.seed()
    sys.executable = sys._base_executable = "/usr/bin/python3"
    sys.path[:] = [*(entry for entry in sys.path if entry), _packages]
    bytecode.keep_below(_packages)
    sys.path_importer_cache.clear()
    kernel.rehearse()


def _set_up(job):
    """What is of the job, in place of what the snapshot has."""
    os.environ.clear()
    os.environ.update(job["env"])
    os.getpid = lambda: job["pid"]
    sys.orig_argv = job.get("argv", ["python3"])
    sys.path[:0] = [entry for entry in os.environ.get("PYTHONPATH", "").split(":") if entry]
    commands.auto_install = job["autoInstall"]
    os.chdir(job["cwd"])
