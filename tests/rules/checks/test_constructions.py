"""Each construction of a rule is understood with whatever it's about, in five languages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from brim.rules.checks import CallPlace, CheckedCall, breach_of, check_for, fulfilled_needs
from tests.rules.checks.sentences import edit, lines_of, shell

COMMANDS = (
    ("`git stash`", "git stash"),
    ("terraform apply", "terraform apply -auto-approve"),
    ("`redis-cli flushall`", "redis-cli flushall"),
    ("`npm run dev`", "npm run dev"),
    ("kubectl delete", "kubectl delete pod web"),
)
PAIRS = (
    ("`rg`", "`grep`", "rg x", "grep x a.py"),
    ("pnpm", "npm", "pnpm install", "npm install"),
    ("`uv run pytest`", "`pytest`", "uv run pytest", "pytest"),
    ("./gradlew", "gradle", "./gradlew build", "gradle build"),
    ("`docker compose`", "`docker-compose`", "docker compose up", "docker-compose up"),
)
CHECKS = ("`npm test`", "make check", "pytest", "`cargo clippy`")
PATHS = (
    ("`legacy/`", "legacy/a.py"),
    ("`config/production.yml`", "config/production.yml"),
    ("third_party/", "third_party/x/y.c"),
    ("`*.pb.go`", "api/user.pb.go"),
)
TEXTS = (
    ("`console.log`", "a.ts", "console.log(1)"),
    ("`any`", "a.ts", "let x: any = 1"),
    ("TODO", "a.py", "# TODO: later"),
    ("`print()`", "a.py", "print(1)"),
)
OTHER = shell("git status && ls && kubectl get pods && cat legacy/a.py")


def constructions(wanted: str) -> Iterator[str]:
    """Each construction of one kind."""
    kind = ""
    for line in lines_of("constructions.txt"):
        if line.startswith("["):
            kind = line[1:-1]
        elif kind == wanted:
            yield line.partition(": ")[2]


def is_stopped(text: str, call: CheckedCall) -> bool:
    """Whether the rule *text* stops *call* and nothing ordinary."""
    check = check_for(text)
    if check is None or breach_of(check, OTHER) is not None:
        return False
    return breach_of(check, call) is not None


@pytest.mark.parametrize(("command", "call"), COMMANDS)
@pytest.mark.parametrize("kind", ["forbid", "ask"])
def test_a_command_is_forbidden(kind: str, command: str, call: str) -> None:
    texts = [construction.format(c=command) for construction in constructions(kind)]
    assert [text for text in texts if not is_stopped(text, shell(call))] == []


@pytest.mark.parametrize(("better", "worse", "passing", "breaking"), PAIRS)
def test_one_command_is_wanted_and_another_is_not(
    better: str, worse: str, passing: str, breaking: str
) -> None:
    texts = [construction.format(a=better, b=worse) for construction in constructions("pair")]
    assert [text for text in texts if not is_stopped(text, shell(breaking))] == []
    assert [text for text in texts if is_stopped(text, shell(passing))] == []


@pytest.mark.parametrize("command", CHECKS)
def test_a_command_must_run_before_the_end(command: str) -> None:
    call = shell(command.replace("`", ""))
    for construction in constructions("done"):
        check = check_for(construction.format(c=command))
        assert check is not None, construction
        assert check.is_before_done, construction
        assert len(fulfilled_needs(check, call)) == len(check.needs), construction


@pytest.mark.parametrize(("path", "file"), PATHS)
def test_a_path_must_not_be_touched(path: str, file: str, tmp_path: Path) -> None:
    (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / file).write_text("old\n")
    call = edit(file, "new", "old", CallPlace(str(tmp_path), str(tmp_path)))
    texts = [construction.format(p=path) for construction in constructions("path")]
    assert [text for text in texts if not is_stopped(text, call)] == []


@pytest.mark.parametrize(("code", "file", "line"), TEXTS)
def test_a_text_must_not_be_written(code: str, file: str, line: str) -> None:
    texts = [construction.format(t=code) for construction in constructions("text")]
    assert [text for text in texts if not is_stopped(text, edit(file, line, "old"))] == []
