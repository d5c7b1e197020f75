"""What a shell would run: checked against the real bash where there is one."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.rules.blocks import commands_of, refused_command
from brim.rules.programs import launched
from brim.rules.shell import pieces, simple_commands, unwrapped

RUNS = [
    "npm install",
    "npm install left-pad --save",
    "  npm\tinstall  ",
    "npm --prefix web install",
    "npm --prefix=web install",
    "cd . && npm install",
    "cd .;npm install",
    "true | npm install",
    "true |& npm install",
    "false || npm install",
    "true & npm install",
    "true\nnpm install\n",
    "npm \\\n  install",
    "sudo npm install",
    "sudo -u nobody npm install",
    "sudo -E A=1 npm install",
    "env npm install",
    "env A=b C='d e' npm install",
    "env -u A npm install",
    "A=b npm install",
    "A=b C=$(true) npm install",
    "time npm install",
    "nohup npm install",
    "exec npm install",
    "command npm install",
    "timeout 5 npm install",
    "timeout -k 1 5s npm install",
    "nice -n 5 npm install",
    "xargs npm install < /dev/null",
    "echo left-pad | xargs -n 1 npm install",
    "STUB/npm install",
    "./npm install",
    '"npm" install',
    "n'p'm in\"stall\"",
    "np\\m install",
    "$'npm' install",
    'bash -c "npm install"',
    "bash -ec 'cd . && npm install'",
    "bash -euo pipefail -c 'npm install'",
    "sh -c 'npm install' x y",
    """bash -c 'bash -c "npm install"'""",
    "eval npm install",
    "eval 'npm install'",
    "(npm install)",
    "( cd . ; npm install )",
    "{ npm install; }",
    "echo $(npm install)",
    'echo "it says $(npm install) here"',
    "echo `npm install`",
    "x=$(npm install)",
    "echo ${x:-$(npm install)}",
    "cat <(npm install)",
    "if true; then npm install; fi",
    "if npm install; then true; fi",
    "for i in 1; do npm install; done",
    "for i in $(npm install); do true; done",
    "while npm install; do break; done",
    "case a in a) npm install;; esac",
    "f() { npm install; }; f",
    "function f { npm install; }; f",
    "! npm install",
    "npm install > log 2>&1",
    "> log npm install",
    "npm 2>/dev/null install",
    "npm install &> log",
    "npm install # and that is all",
    "cat > f <<EOF && npm install\ntext\nEOF",
    "cat > f <<'EOF'\ntext\nEOF\nnpm install",
    "cat <<EOF\n$(npm install)\nEOF",
    "bash <<EOF\nnpm install\nEOF",
    "bash -s <<'EOF'\nnpm install\nEOF",
    "cat <<-EOF\n\ttext\n\tEOF\nnpm install",
    "cat <<A <<B\na\nA\nb\nB\nnpm install",
    "echo $((1 << 2)); npm install",
    "[[ a == a ]] && npm install",
    "a=(npm install); npm install",
    "find . -maxdepth 0 -exec npm install \\;",
    "echo it\\'s; npm install",
    "git log --format='%h (%s)' | head; npm install",
    "echo '#'; npm install",
]
"""Commands that run ``npm install``."""

DONT = [
    "npm installer",
    "npm run install",
    "npm help install",
    "npm",
    "npx install",
    "pnpm install",
    "my-npm install",
    "echo npm install",
    'grep "npm install" README.md',
    "grep -rn 'npm install' .",
    "echo 'cd x && npm install'",
    'git commit -m "npm install"',
    'git commit -m "run; npm install"',
    "cat <<EOF\nnpm install\nEOF",
    "cat <<'EOF' > f\n$(npm install)\n`npm install`\nEOF",
    "cat <<-EOF\n\tnpm install\n\tEOF",
    "cat > f.sh <<'X'\n#!/bin/sh\nnpm install\nX\ntrue",
    "true # npm install",
    "true # ; npm install",
    "a=(npm install)",
    "x='npm install'",
    "command -v npm install",
    "echo '$(npm install)'",
    'echo "\\$(npm install)"',
    'echo "\\`npm install\\`"',
    "echo a\\;npm install",
    "echo \\\nnpm install",
    "cat <<< 'npm install'",
    "echo x > npm install",
    "case npm in install) true;; esac",
    "for npm in install; do true; done",
    "npm() { true; }",
    "test npm = install",
    "node -e 'npm install'",
]
"""Commands that don't."""


@pytest.fixture(scope="module")
def stub(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stub")
    for name, body in {
        "npm": '[ "$1" = --prefix ] && shift 2; [ "${1#--prefix=}" != "$1" ] && shift',
        "sudo": "",
    }.items():
        run = (
            'echo "$*" >> "$RAN"'
            if name == "npm"
            else 'while [ "${1#-}" != "$1" ]; do [ "$1" = -u ] && shift; shift; done; exec env "$@"'
        )
        (folder / name).write_text(f"#!/bin/sh\n{body}\n{run}\n")
        (folder / name).chmod(0o755)
    for name in ("npx", "pnpm", "my-npm", "node"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return folder


def ran(command: str, stub: Path, folder: Path) -> bool:
    """Whether bash runs ``npm install`` for *command*."""
    log = folder / "ran"
    shutil.copy(stub / "npm", folder / "npm")
    environ = {
        "PATH": f"{stub}{os.pathsep}{os.environ['PATH']}",
        "RAN": str(log),
        "HOME": str(folder),
    }
    script = f"{command.replace('STUB', shlex.quote(str(stub)))}\nwait"
    subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=300,
        check=False,
    )
    lines = log.read_text().splitlines() if log.exists() else []
    return any(line.split()[:1] == ["install"] for line in lines)


@pytest.mark.parametrize("command", RUNS)
def test_a_command_that_runs_it_is_found(command: str) -> None:
    assert refused_command("npm install", commands_of(command))


@pytest.mark.parametrize("command", DONT)
def test_a_command_that_does_not_is_not(command: str) -> None:
    assert not refused_command("npm install", commands_of(command))


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")
def test_bash_agrees(stub: Path, tmp_path: Path) -> None:
    for number, (command, runs) in enumerate(
        [*((each, True) for each in RUNS), *((each, False) for each in DONT)]
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert ran(command, stub, folder) is runs, command


WORDS = st.lists(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1),
    min_size=1,
    max_size=6,
)


@given(WORDS)
def test_quoted_words_come_back_as_they_are(words: list[str]) -> None:
    words = ["program", *words]
    assert simple_commands(shlex.join(words)) == [words]


@given(
    st.lists(WORDS, min_size=1, max_size=4),
    st.sampled_from(["; ", " && ", " || ", " | ", "\n", " & "]),
)
def test_commands_are_split_where_a_shell_splits_them(
    commands: list[list[str]], between: str
) -> None:
    commands = [["program", *words] for words in commands]
    assert simple_commands(between.join(map(shlex.join, commands))) == commands


@given(WORDS, st.integers(1, 4))
def test_a_shell_in_a_shell_is_opened(words: list[str], depth: int) -> None:
    words = ["program", *words]
    text = shlex.join(words)
    for _ in range(depth):
        text = shlex.join(["bash", "-c", text])
    assert simple_commands(text)[-1] == words


@given(st.text(st.sampled_from("npm install \n\t;&|()<>{}$`'\"\\#=-aE")))
def test_any_text_is_read_or_refused_and_never_lost(text: str) -> None:
    try:
        simple_commands(text)
    except ValueError:
        assert commands_of(text) is not None
    assert (
        refused_command("npm install", commands_of(f"{text}\n\nnpm install"))
        or "<<" in text
        or _is_open(text)
    )


def _is_open(text: str) -> bool:
    """Whether *text* leaves something open that makes text of what follows."""
    marks = ("'", '"', "#", "\\", "`", "=(", "(", "{", "$")
    return any(mark in text for mark in marks)


@pytest.mark.parametrize(
    "text", ["echo '", 'echo "', "echo `", "echo $(ls", "(ls", "echo ${x", "$'"]
)
def test_what_cannot_be_parsed_is_an_error_and_matched_by_its_words(text: str) -> None:
    with pytest.raises(ValueError, match="no "):
        simple_commands(text)
    assert refused_command("npm install", commands_of(f"npm install; {text}"))
    assert not refused_command("npm install", commands_of(f"npm installer {text}"))


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5_000,
        "$(" * 5_000,
        "((" * 5_000,
        "$((" * 5_000,
        "`" * 5_000,
        "eval " * 5_000,
        "sudo " * 5_000 + "ls",
        "find " + "-exec find " * 3_000,
        "<<A " * 5_000,
        "${" * 5_000,
        "bash -c '" * 5_000,
        "a;" * 50_000,
        "a=(" * 5_000,
        '"' * 5_001,
        "\\" * 5_000,
        "x" * 1_000_000,
    ],
)
def test_no_text_takes_long(text: str) -> None:
    """What takes long here takes a lot of memory, which is the same on every machine."""
    tracemalloc.start()
    try:
        refused_command("npm install", commands_of(f"{text}\nnpm install"))
        assert tracemalloc.get_traced_memory()[1] < 50_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("command", "commands"),
    [
        ("cd web && A=1 npx jest 'a b' | tail -5", ["cd web", "jest a b", "tail -5"]),
        ("sudo -u web timeout -k 1 60 make test", ["make test"]),
        ("docker compose exec -T web pytest -x", ["pytest -x"]),
        ("bash -lc 'cd a && make' | tee log", ["cd a", "make", "tee log"]),
        ("(cd a; make) || exit 1", ["cd a", "make", "exit 1"]),
        ("if make; then echo $(git push); fi", ["make", "echo $()", "fi"]),
        ("cat > f <<'EOF'\nnpm install\nEOF\nls", ["cat", "ls"]),
        ("command -v npm", ["command -v npm"]),
        ("watch -n 5 make", ["watch -n 5 make"]),
        ("A=1", []),
        ("echo 'not closed; make", ["echo not closed", "make"]),
    ],
)
def test_what_is_launched_is_what_a_person_means(command: str, commands: list[str]) -> None:
    assert [
        " ".join(words) for each in pieces(command) if (words := launched(each.words))
    ] == commands


def test_a_piece_knows_what_it_reads_and_writes() -> None:
    found = pieces("make > log 2>&1 |& grep x >> found || tail log")
    assert [(each.words[0], each.writes, each.piped) for each in found] == [
        ("make", ["log"], False),
        ("grep", ["found"], True),
        ("tail", [], False),
    ]
    assert pieces("bash -c 'make' > log")[0].writes == ["log"]


def test_only_one_call_of_a_shell_is_unwrapped() -> None:
    assert unwrapped("/bin/bash -lc 'make test'") == "make test"
    for command in ("bash run.sh", "bash -c 'make' > log", "bash -c make; ls", "bash -c 'make"):
        assert unwrapped(command) == command


@given(st.text(st.sampled_from("npm install \n\t;&|()<>{}$`'\"\\#=-aE")))
def test_any_text_has_pieces(text: str) -> None:
    assert all(each.words and isinstance(launched(each.words), list) for each in pieces(text))
    assert isinstance(unwrapped(text), str)
