"""Runs ``brim`` in processes of their own, each forked from one that has imported it.

Starting Python and importing brim takes most of the time of a short command, and the tests run
thousands of them. ``python -m tests.forks SOCKET`` serves until its standard input ends: a client
sends arguments, environment and folder with three open files, and gets the exit status back.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import io
import json
import os
import pkgutil
import select
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

ENVIRON = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"}
_LONGEST = 1 << 20
HEAVY = (
    "brim.run",
    "brim.adapters.",
    "brim.mcp",
    "brim.ui",
    "brim.loopback",
    "brim.money.postgres_",
)
"""What imports SDKs and servers: a fork takes longer the more memory there is, and few commands
need these."""


def load() -> None:
    """Import what most commands need.

    Nothing is called: what it finds in a home or an environment must be each process's own.
    """
    import brim

    for module in pkgutil.walk_packages(brim.__path__, "brim."):
        if not module.name.startswith(HEAVY):
            importlib.import_module(module.name)
    gc.freeze()  # so that a fork's collector doesn't copy what it shares


class Server:
    """The process that others are forked from."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="brim-forks-")
        self.path = os.path.join(self.folder, "socket")
        self.command = os.path.join(self.folder, "brim")
        """A ``brim`` for shells and terminals that only asks for a fork. Signals that it gets don't
        reach the fork."""
        brim = str(Path(sys.executable).with_name("brim"))
        ask = os.path.join(self.folder, "ask.py")
        Path(ask).write_text(
            _ASK.format(socket=self.path, brim=brim, folder=self.folder), encoding="utf-8"
        )
        # Not a script of Python's own: its first line can't name an interpreter with a space in its
        # path.
        called = shlex.join([sys.executable, "-IS", ask])
        Path(self.command).write_text(f'#!/bin/sh\nexec {called} "$@"\n', encoding="utf-8")
        os.chmod(self.command, 0o755)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.forks", self.path],
            cwd=Path(__file__).parents[1],
            env=ENVIRON,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"ready\n"

    def run(
        self,
        arguments: Sequence[str],
        streams: Sequence[int],
        environ: Mapping[str, str],
        cwd: str,
        timeout: float,
    ) -> int:
        """Run ``brim`` with *arguments*; return its exit code, negative for a signal."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
            asking.settimeout(timeout)
            asking.connect(self.path)
            asking.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2 * _LONGEST)
            socket.send_fds(
                asking, [json.dumps([list(arguments), dict(environ), cwd]).encode()], list(streams)
            )
            return os.waitstatus_to_exitcode(int(asking.recv(64)))


_ASK = """import json, os, socket, sys
with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as asking:
    asking.connect({socket!r})
    words = [{brim!r}, *sys.argv[1:]]
    environ = os.environ | dict(PATH=os.environ.get("PATH", os.defpath).removeprefix({folder!r} + os.pathsep))
    socket.send_fds(asking, [json.dumps([words, environ, os.getcwd()]).encode()], [0, 1, 2])
    code = os.waitstatus_to_exitcode(int(asking.recv(64)))
if code < 0:
    os.kill(os.getpid(), -code)
sys.exit(code)
"""


@cache
def server() -> Server:
    """Return the server of this process, started when it's first asked for."""
    return Server()


def serve(path: str) -> None:
    """Answer until standard input ends; in a fork, return when the command is over."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listening.bind(path)
    listening.listen(64)
    woken, waker = os.pipe()
    for end in (woken, waker):
        os.set_blocking(end, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waker)
    waiting: dict[int, socket.socket] = {}
    print("ready", flush=True)
    while True:
        ready, _, _ = select.select([0, listening.fileno(), woken], [], [])
        if 0 in ready:
            shutil.rmtree(os.path.dirname(path))
            return
        if woken in ready:
            os.read(woken, 4096)
            for process in list(waiting):
                ended, status = os.waitpid(process, os.WNOHANG)
                if ended:
                    with suppress(OSError), waiting.pop(process) as answering:
                        answering.send(str(status).encode())
        if listening.fileno() in ready:
            answering, _ = listening.accept()
            data, streams, _, _ = socket.recv_fds(answering, _LONGEST, 3)
            process = os.fork()
            if process == 0:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for each in (listening, answering, *waiting.values()):
                    each.close()
                os.close(woken)
                os.close(waker)
                return _become(streams, *json.loads(data))
            waiting[process] = answering
            for handle in streams:
                os.close(handle)


def _become(streams: list[int], arguments: list[str], environ: dict[str, str], cwd: str) -> None:
    """Be ``brim`` with these arguments, as if Python had just started."""
    for number, handle in enumerate(streams):
        os.dup2(handle, number)
        os.close(handle)
    old = sys.stdin, sys.stdout, sys.stderr
    for number, (name, given) in enumerate(zip(("stdin", "stdout", "stderr"), old, strict=True)):
        raw = open(number, "rb" if number == 0 else "wb", closefd=False)  # noqa: SIM115
        buffered = number == 2 or (number == 1 and raw.isatty())
        fresh = io.TextIOWrapper(raw, given.encoding, given.errors, line_buffering=buffered)
        setattr(sys, name, fresh)
        setattr(sys, f"__{name}__", fresh)
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()
    os.chdir(cwd)
    os.umask(0o022)
    sys.argv = arguments
    sys.path[0] = os.path.dirname(arguments[0])
    from brim.cli import main

    code: object = 0
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        traceback.print_exc()
        code = 1
    if isinstance(code, str):
        print(code, file=sys.stderr)
    status = code if isinstance(code, int) else int(code is not None)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            status = 120  # as Python ends when its output can't be written
    os._exit(status & 0xFF)  # freeing all that was imported would take longer than most commands


if __name__ == "__main__":
    load()
    serve(sys.argv[1])
