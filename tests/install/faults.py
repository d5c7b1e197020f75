"""Runs brim in a process of its own that is killed, or finds the disk full, at one of its changes
to the disk.

Python tells an audit hook about each file that it opens, renames or removes, so nothing of brim is
replaced.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from tests.cli.conftest import Brim

CODE = """\
import errno, os, sys
how, at, root = sys.argv[1], int(sys.argv[2]), sys.argv[3]
sys.argv = ["brim", *sys.argv[4:]]
from brim.cli import main
CHANGES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.chmod", "os.link", "os.symlink", "os.truncate")
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
count = 0

def hook(event, args):
    global count
    if event != "open" and event not in CHANGES:
        return
    if not isinstance(args[0], (str, bytes)) or not os.path.abspath(os.fsdecode(args[0])).startswith(root):
        return
    grows = event in ("os.mkdir", "os.link", "os.symlink")
    if event == "open":
        if not args[2] & WRITES:
            return
        grows = not os.path.lexists(args[0])
    count += 1
    if how == "kill" and count == at:
        os._exit(137)
    if how == "full" and count >= at and grows:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), os.fsdecode(args[0]))

def limited():
    import resource, signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (at, resource.RLIM_INFINITY))

limited() if how == "small" else sys.addaudithook(hook)
try:
    main()
finally:
    os.write(2, f"[{count}]".encode())
"""


PATH = "/usr/bin:/bin"


class Faulty(NamedTuple):
    """How it ended, what it said, and how often it changed something."""

    code: int
    out: str
    err: str
    changes: int


def run_faulty(brim: Brim, how: str, at: int, *words: str) -> Faulty:
    """Run brim; with ``kill`` it ends before the change *at*, with ``full`` nothing new can be made
    from then on.

    With ``small`` no file can grow beyond *at* bytes, as on a disk that fills up in the middle of a
    write.
    """
    ran = subprocess.run(
        [sys.executable, "-c", CODE, how, str(at), str(brim.home.parent), *words],
        env={**brim.environ, "PATH": PATH},
        cwd=brim.cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    said, _, changes = ran.stderr.rpartition("[")
    if ran.returncode == 137:
        said, changes = ran.stderr, f"{at}]"
    assert "Traceback" not in said, said
    return Faulty(ran.returncode, ran.stdout, said, int(changes.rstrip("]\n") or 0))


def run_sound(brim: Brim, *words: str) -> int:
    """Run brim as ``run_faulty`` does, without a fault; return its exit code."""
    return brim(*words, env={"PATH": PATH}).code


def litter(root: Path) -> list[str]:
    """Return the unfinished files below *root*."""
    return sorted(
        str(path.relative_to(root)) for path in root.rglob("*") if path.name.endswith(".tmp")
    )
