"""``Invocation``: a command in one form, whatever its aliases and the order of its options.

``npm i -D x``, ``npm add x --save-dev`` and ``npx npm install x`` are all ``npm install`` with the
argument ``x``. ``python -m pip`` is ``pip``, and ``git -C web push -fu origin`` is ``git push``
with ``-f`` and ``-u``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from brim.record import PlainData
from brim.rules.globs import alternatives
from brim.rules.shell import RanCommand, ran_commands

_NPM_ALIASES = {
    "i": "install",
    "in": "install",
    "ins": "install",
    "isntall": "install",
    "add": "install",
    "clean-install": "ci",
    "cit": "ci",
    "it": "install",
    "install-test": "install",
    "rm": "uninstall",
    "r": "uninstall",
    "un": "uninstall",
    "remove": "uninstall",
    "unlink": "uninstall",
    "up": "update",
    "upgrade": "update",
    "t": "test",
    "tst": "test",
    "run-script": "run",
    "rum": "run",
    "x": "exec",
}
ALIASES: Mapping[str, Mapping[str, str]] = {
    "npm": _NPM_ALIASES,
    "pnpm": {"i": "install", "rm": "remove", "un": "remove", "uninstall": "remove", "up": "update"},
    "yarn": {"rm": "remove", "up": "upgrade"},
    "bun": {"i": "install", "a": "add", "rm": "remove"},
    "cargo": {"b": "build", "t": "test", "r": "run", "c": "check", "rm": "remove"},
    "git": {"stage": "add"},
    "kubectl": {"del": "delete"},
    "gem": {"i": "install"},
    "composer": {"i": "install", "u": "update"},
    "brew": {"rm": "uninstall", "remove": "uninstall"},
}
"""Other names of subcommands, and the name that patterns use."""

_PROGRAMS = {
    "pip3": "pip",
    "pip2": "pip",
    "yarnpkg": "yarn",
    "nodejs": "node",
    "apt-get": "apt",
    "gmake": "make",
}
"""Programs that are the same for a rule."""

_VALUED: Mapping[str, str] = {
    "git": (
        "-C -c --git-dir --work-tree --namespace --exec-path --config-env -m --message -F --file"
        " --author --date --source -t --template -o --push-option --repo --receive-pack --exec --onto"
        " --strategy -X -b -B --depth --branch --upload-pack --since --until --format"
        " --pathspec-from-file"
    ),
    "npm": (
        "--prefix -C -w --workspace --registry --tag --otp --userconfig --cache --loglevel --omit"
        " --include --install-strategy --script-shell -c --call --package"
    ),
    "pnpm": "-C --dir -F --filter --filter-prod --registry --reporter --store-dir --loglevel",
    "yarn": "--cwd --registry --network-timeout --cache-folder --modules-folder",
    "bun": "--cwd --registry -c --config --filter",
    "pip": (
        "-r --requirement -e --editable -c --constraint -t --target --prefix --root -i --index-url"
        " --extra-index-url -f --find-links --proxy --timeout --python --cache-dir --platform"
        " --python-version --only-binary --no-binary --trusted-host --upgrade-strategy --log"
        " --src --report --group --config-settings --implementation --abi"
    ),
    "uv": (
        "--directory --project --python -p --index --index-url --default-index --cache-dir --group"
        " --extra --package --with --from --config-file --color -r --requirements --optional"
        " --tag --branch --rev --marker -c --constraint --extra-index-url --find-links --env-file"
    ),
    "poetry": "-C --directory -P --project -G --group -E --extras --source --platform --python",
    "conda": "-n --name -p --prefix -c --channel -f --file",
    "cargo": (
        "-p --package --features -F --manifest-path --target --target-dir --profile -j --jobs"
        " --color --config --bin --example --test --bench --path --git --branch --tag --rev"
        " --rename --registry -Z --message-format -C"
    ),
    "docker": "-H --host -c --context --config -f --file --project-name --env-file --profile -t",
    "kubectl": "-n --namespace --context --kubeconfig --cluster --user -f --filename -l -o -k",
    "terraform": "-var -var-file -target -state",
    "make": "-C --directory -f --file -o -W -I",
    "pytest": "-k -m -n -c -p -o -W -r --rootdir --tb --maxfail --durations --cov --junitxml",
    "go": "-C -tags -run -timeout -count -o -ldflags",
    "curl": "-o -H -d -X -u -A -e -b -F --output --header --data --request",
    "wget": "-O -P --output-document --header",
    "sed": "-e -f --expression --file",
    "cp": "-t --target-directory -S",
    "mv": "-t --target-directory -S",
    "ln": "-t --target-directory -S",
    "install": "-t --target-directory -m -o -g",
    "rsync": "-e --rsh --exclude --include --filter",
    "tar": "-C --directory -f --file --exclude",
    "unzip": "-d",
    "truncate": "-s --size",
    "perl": "-e -E",
    "patch": "-i -d -o",
    "psql": "-c --command -d -h -p -U -f --file",
    "mysql": "-e --execute -h -P -u -D",
    "mariadb": "-e --execute -h -P -u -D",
    "redis-cli": "-n -h -p -a -u",
}
"""Options that are followed by a value, by program."""

_SAME_AS_OPTION = {("vitest", "run"): "--run", ("vitest", "watch"): "--watch"}
"""Subcommands that are the same as an option."""
_WITHOUT_CASE = ("redis-cli",)
"""Programs for whose commands case doesn't matter."""
_STARTING_BINARIES = ("pnpm", "yarn")
"""Programs that run a program of a package whose name they're given."""
_OWN_SUBCOMMANDS = frozenset(
    (
        *("install", "add", "remove", "update", "upgrade", "up", "dedupe", "link"),
        *("run", "test", "start", "exec", "dlx", "build", "publish", "npm", "init"),
        *("audit", "why", "list", "info", "outdated", "config", "cache"),
        *("global", "workspace", "workspaces"),
    )
)
_PASSING_ON = ("npm", "pnpm", "yarn", "bun")
"""Programs that pass on what follows ``--``: it's still an option, of a script."""
_LETTERS = r"-[A-Za-z0-9]{2,6}"
_WORDS_APART = re.compile(r"[^\w.+-]+")
_VERSION = r"(?<=[A-Za-z])[\d.]+$"


@dataclass(frozen=True)
class Invocation(PlainData):
    """A command as patterns see it."""

    program: str
    arguments: tuple[str, ...] = ()
    """What isn't an option or the value of one, the subcommand first."""
    options: tuple[str, ...] = ()
    """The options, also the letters of ``-rf`` one by one."""
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The values of options."""
    ran: RanCommand = field(default_factory=lambda: RanCommand([]))
    """The command as it is written."""

    @property
    def line(self) -> str:
        """The command as a person reads it, in one short line."""
        text = " ".join(" ".join(self.ran.words).split())
        if len(text) > 80:
            return f"{text[:79]}…"
        return text


def invocations(command: str | list[str]) -> list[Invocation]:
    """Return the commands that *command* would run; none if it can't be parsed.

    >>> [(i.program, i.arguments) for i in invocations("cd web && python3 -m pip install x")]
    [('cd', ('web',)), ('python3', ('pip', 'install', 'x')), ('pip', ('install', 'x'))]
    """
    try:
        ran = ran_commands(command)
    except ValueError:
        return []
    invocations_in_order: list[Invocation] = []
    for ran_command in ran:
        invocation = invocation_of(ran_command)
        invocations_in_order.append(invocation)
        if _starts_binary(invocation):
            words = ran_command.words[ran_command.words.index(invocation.arguments[0]) :]
            invocations_in_order.append(invocation_of(replace(ran_command, words=words)))
    return invocations_in_order


def _starts_binary(invocation: Invocation) -> bool:
    """Whether ``pnpm prettier`` or the like may run a program of a package."""
    if invocation.program not in _STARTING_BINARIES or not invocation.arguments:
        return False
    first = invocation.arguments[0]
    return first.isidentifier() and first not in _OWN_SUBCOMMANDS and first in invocation.ran.words


def invocation_of(ran: RanCommand) -> Invocation:
    """Return the one form of the command *ran*."""
    words = _without_braces(ran.words)
    name = program_name(words[0])
    valued = _VALUED.get(name, "").split()
    arguments: list[str] = []
    options: list[str] = []
    values: dict[str, tuple[str, ...]] = {}
    waiting = ""
    only_arguments = False
    for word in words[1:]:
        if waiting:
            values[waiting] = (*values.get(waiting, ()), word)
            waiting = ""
        elif only_arguments or len(word) < 2 or word[0] not in "-":
            arguments.append(word)
        elif word == "--":
            only_arguments = name not in _PASSING_ON
            options.append(word)
        else:
            waiting = _read_option(word, valued, options, values)
    if name in _WITHOUT_CASE:
        arguments = [argument.lower() for argument in arguments]
    if arguments:
        arguments[0] = ALIASES.get(name, {}).get(arguments[0], arguments[0])
        same_option = _SAME_AS_OPTION.get((name, arguments[0]))
        if same_option is not None:
            options.append(same_option)
    return Invocation(name, tuple(arguments), tuple(options), values, ran)


def _read_option(
    word: str, valued: list[str], options: list[str], values: dict[str, tuple[str, ...]]
) -> str:
    """Add the option *word*; return the option whose value comes next, or nothing."""
    name, sign, value = word.partition("=")
    options.append(name)
    if sign:
        values[name] = (*values.get(name, ()), value)
        return ""
    if name in valued:
        return name
    if name[:2] in valued and name[:2] != "--":
        options.append(name[:2])
        values[name[:2]] = (*values.get(name[:2], ()), name[2:])
        return ""
    if not re.fullmatch(_LETTERS, name):
        return ""
    letters = [f"-{letter}" for letter in name[1:]]
    options += letters
    if letters[-1] in valued:
        return letters[-1]
    return ""


def canonical_words(words: list[str]) -> list[str]:
    """Return *words* with the usual names of the program and its subcommand.

    >>> canonical_words(["npm", "-C", "web", "i", "x"])
    ['npm', '-C', 'web', 'install', 'x']
    """
    name = program_name(words[0])
    aliases = ALIASES.get(name, {})
    plain = [name]
    is_value = False
    has_subcommand = False
    for word in words[1:]:
        if not has_subcommand and not is_value and word[:1] != "-":
            has_subcommand = True
            plain.append(aliases.get(word, word))
        else:
            plain.append(word)
        is_value = word in _VALUED.get(name, "").split()
    return plain


def program_name(name: str) -> str:
    """Return the name that patterns use for the program *name*.

    >>> program_name("pip3.12"), program_name("python3.12"), program_name("apt-get")
    ('pip', 'python3', 'apt')
    """
    if name.startswith("python3"):
        return "python3"
    plain = re.sub(_VERSION, "", name) or name
    if name in ("g++", "7z"):
        return name
    return _PROGRAMS.get(name) or _PROGRAMS.get(plain) or plain


def _without_braces(words: list[str]) -> list[str]:
    """Return *words* with ``{a,b}`` written out, as bash does."""
    plain: list[str] = []
    for word in words:
        if "{" in word and "," in word and '"' not in word and " " not in word:
            plain += alternatives(word)
        else:
            plain.append(word)
    return plain


def named_programs(text: str) -> frozenset[str]:
    """Return the names of all programs that the command *text* may run: a quick look.

    >>> sorted(named_programs("cd web && /usr/bin/pip3 i"))
    ['bin', 'cd', 'i', 'pip', 'usr', 'web']
    """
    plain = text.replace("\\", "").replace("'", "").replace('"', "")
    names = set()
    for word in _WORDS_APART.split(plain):
        names.add(program_name(word.removesuffix(".exe").removesuffix(".cmd")))
    names.discard("")
    return frozenset(names)
