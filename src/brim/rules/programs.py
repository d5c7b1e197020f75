"""Which program a command runs: without keywords, settings, ``sudo``, ``uv run`` and the like
before it."""

from __future__ import annotations

from brim.files import data_lines

BEFORE = frozenset(("if", "then", "else", "elif", "do", "!", "{", "}"))
"""Words before a command that don't change what it is."""
WRAPPERS: dict[str, tuple[str, int]] = {
    "sudo": (
        "-u -g -h -p -C -D -R -T -U -r -t --user --group --host --prompt --chdir --chroot"
        " --other-user",
        0,
    ),
    "doas": ("-u -C", 0),
    "runuser": ("-u -g -G --user --group --supp-group", 0),
    "systemd-run": (
        "-u -p -E -M -H --unit --property --setenv --machine --host --uid --gid"
        " --working-directory",
        0,
    ),
    "env": ("-u -C --unset --chdir", 0),
    "nice": ("-n --adjustment", 0),
    "ionice": ("-c -n --class --classdata", 0),
    "timeout": ("-s -k --signal --kill-after", 1),
    "stdbuf": ("-i -o -e --input --output --error", 0),
    "time": ("-f -o --format --output", 0),
    "xargs": ("-I -n -P -L -d -E -s -a --max-args --max-procs --delimiter --arg-file --replace", 0),
    "exec": ("-a", 0),
    "setpriv": (
        "--reuid --regid --ruid --euid --rgid --egid --groups --inh-caps --bounding-set"
        " --securebits --pdeathsig",
        0,
    ),
    "chrt": ("-T -P -D", 1),
    "taskset": ("", 1),
    "flock": ("-w -E --timeout", 1),
    "strace": ("-e -o -p -s -u", 0),
    "watch": ("-n --interval", 0),
    **dict.fromkeys(
        ("command", "builtin", "nohup", "setsid", "chronic", "unbuffer", "caffeinate", "busybox"),
        ("", 0),
    ),
}
"""Programs that run the command after them: options of theirs that have a value, and how many words
come first."""

_CONTAINERS = ("docker", "docker-compose", "podman")
"""Programs whose next word names where the command runs."""

_STEPS = ("&&", "||", ";", "|", "$(", "`", "(", ")", "{", "}")


def steps(text: str) -> list[list[str]]:
    """Return the words of each part of *text*, which needn't be a command, between the signs of a
    shell.

    >>> steps("Don't stop: run (uv run pytest) first; then say 'done'")
    [["Don't", 'stop:', 'run'], ['uv', 'run', 'pytest'], ['first'], ['then', 'say', 'done']]
    """
    for sign in _STEPS:
        text = text.replace(sign, "\n")
    return [
        [word.strip("'\"") for word in line.split()] for line in text.split("\n") if line.strip()
    ]


def launched(words: list[str]) -> list[str]:
    """Return the words of the command that *words* start: without keywords, settings, ``sudo``,
    ``uv run`` and options.

    >>> launched(["A=1", "timeout", "60", "uv", "run", "--frozen", "pytest", "-x"])
    ['pytest', '-x']
    """
    launchers = data_lines(__file__, "launchers.txt")
    while words:
        first = words[0]
        if first in BEFORE or is_setting(first):
            words = words[1:]
            continue
        inner: list[str] | None = None
        if size := next((size for size in (3, 2, 1) if " ".join(words[:size]) in launchers), 0):
            inner = words[size:]
            while inner and inner[0].startswith("-"):
                inner = inner[1:]
            if first in _CONTAINERS:
                inner = inner[1:]
        elif first in WRAPPERS and first != "watch":  # what watches isn't what it watches
            inner = run_by(first, words[1:])
        if not inner:
            break
        words = inner
    return words


_VALUED = ("-p", "--package", "--with", "--from", "-c", "--env-file", "--python", "--directory")
"""Options of launchers with a value of their own."""


def launched_by(words: list[str]) -> list[str]:
    """Return the command that the launcher at the front of *words* starts on this machine; empty
    if there is no launcher.

    >>> launched_by(["npx", "-y", "pnpm", "i"]), launched_by(["docker", "run", "x", "npm", "i"])
    (['pnpm', 'i'], [])
    """
    if words[0] in _CONTAINERS:
        return []
    if words[0] == "corepack":
        return words[1:]
    launchers = data_lines(__file__, "launchers.txt")
    for size in (3, 2, 1):
        if " ".join(words[:size]) not in launchers:
            continue
        inner = words[size:]
        while inner and inner[0].startswith("-"):
            inner = inner[2:] if inner[0] in _VALUED else inner[1:]
        return inner
    return []


def program(word: str) -> str:
    """Return the name of the program that *word* calls, without path and ending.

    >>> program("/usr/bin/npm"), program("C:\\\\tools\\\\npm.cmd"), program("./run.sh")
    ('npm', 'npm', 'run.sh')
    """
    name = word.replace("\\", "/").rsplit("/", 1)[-1]
    if name[-4:].lower() in (".exe", ".cmd", ".bat"):
        return name[:-4]
    return name


def is_setting(word: str) -> bool:
    """Whether *word* sets a variable: ``A=1``, ``A+=1`` or ``A[0]=1``."""
    name, sign, _ = word.partition("=")
    return bool(sign) and name.removesuffix("+").partition("[")[0].isidentifier()


def run_by(name: str, words: list[str]) -> list[str] | None:
    """Return the command that the program *name* runs, of its arguments *words*; None if it runs
    none."""
    valued, first = WRAPPERS[name]
    while words and words[0].startswith("-") and (len(words[0]) > 1 or name == "env"):
        option = words[0]
        if name == "command" and option in ("-v", "-V"):
            return None  # it only says where the program is
        if name == "env" and option in ("-S", "--split-string"):
            return " ".join(words[1:]).split()
        words = words[2:] if option in valued.split() else words[1:]
        if option == "--":
            break
    return words[first:]
