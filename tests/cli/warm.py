"""A process that has brim imported and forks one process for each command.

Starting Python and importing brim takes ten times as long as the fork. Commands that are started in another way
(``Brim.start``, ``Brim.shell``, the contract, the documentation) still start from nothing.

As a script, ``python -P warm.py SOCKET`` serves until its standard input ends.
"""

from __future__ import annotations

import atexit
import gc
import os
import pickle
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module

LONGEST = 60
"""Seconds that a command may take."""


def run_warm(words: Sequence[str], given: bytes, environ: Mapping[str, str], folder: str) -> tuple[int, bytes, bytes]:
    """Run brim with *words* in *folder*; return its exit code and what it printed."""
    with socket.socket(socket.AF_UNIX) as connection, tempfile.TemporaryFile() as request:
        connection.connect(_server())
        pickle.dump((list(words), dict(environ), folder), request)
        request.seek(0)
        (stdin, to), (out, stdout), (err, stderr) = os.pipe(), os.pipe(), os.pipe()
        socket.send_fds(connection, [b"."], [stdin, stdout, stderr, request.fileno()])
        for each in (stdin, stdout, stderr):
            os.close(each)
        said = {out: b"", err: b""}

        def write() -> None:
            try:
                with open(to, "wb") as file:
                    file.write(given)
            except OSError:
                pass  # it ended before it had read everything

        def read(handle: int) -> None:
            with open(handle, "rb") as file:
                said[handle] = file.read()

        threads = [threading.Thread(target=write), threading.Thread(target=read, args=(err,))]
        for thread in threads:
            thread.start()
        read(out)
        for thread in threads:
            thread.join()
        return int(connection.recv(100)), said[out], said[err]


@cache
def _server() -> str:
    """Return the socket of this test process's server, which is started now."""
    path = os.path.join(tempfile.mkdtemp(prefix="brim-warm-"), "socket")
    environ = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C.UTF-8"}
    server = subprocess.Popen(
        [sys.executable, "-P", __file__, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environ
    )
    assert server.stdin is not None
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"

    def end() -> None:
        server.communicate(b"")
        os.unlink(path)
        os.rmdir(os.path.dirname(path))

    atexit.register(end)
    return path


def _serve(path: str) -> socket.socket:
    """Accept connections for ever; return one in each of the processes that answer."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(64)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)
        print("ready", flush=True)
        while True:
            ready, _, _ = select.select([listener.fileno(), 0], [], [])
            if 0 in ready:
                os._exit(0)
            connection, _ = listener.accept()
            if os.fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                return connection
            connection.close()


def _become_command(connection: socket.socket) -> None:
    """Return in a new process that looks as if it had just been started; the old one waits for it."""
    _, handles, _, _ = socket.recv_fds(connection, 1, 4)
    with open(handles.pop(), "rb") as file:
        words, environ, folder = pickle.load(file)
    if child := os.fork():
        for each in handles:
            os.close(each)
        _, status = os.waitpid(child, 0)
        connection.sendall(str(os.waitstatus_to_exitcode(status)).encode())
        os._exit(0)
    connection.close()
    for number, each in enumerate(handles):
        os.dup2(each, number)
        os.close(each)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    time.tzset()
    sys.argv = words
    sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", errors="surrogateescape", newline="\n", closefd=False)  # noqa: SIM115
    sys.stderr = open(  # noqa: SIM115
        2, "w", buffering=1, encoding="utf-8", errors="backslashreplace", newline="\n", closefd=False
    )
    signal.alarm(LONGEST)


if __name__ == "__main__":
    from brim.cli import commands, main

    for each in pkgutil.iter_modules(commands.__path__, "brim.cli.commands."):
        import_module(each.name)
    gc.freeze()  # a collection would copy what the processes share
    _become_command(_serve(sys.argv[1]))
    code: object = 1
    try:
        main()
    except SystemExit as ended:
        code = ended.code
    except BaseException:
        traceback.print_exc()
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else int(code is not None))  # to take all modules apart takes long
