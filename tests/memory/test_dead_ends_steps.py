"""What a command, an error and a result are taken for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.agents.events import ToolResult
from brim.memory.quotes import LONGEST, masked_line
from brim.memory.repetition.checks import check_in
from brim.memory.repetition.commands import parts, polls, writes
from brim.memory.repetition.errors import settled, signature
from brim.memory.repetition.git import git_steps
from brim.memory.repetition.outcomes import outcome_of
from brim.rules.shell import unwrapped


@pytest.mark.parametrize(
    ("command", "kind", "name", "target"),
    [
        ("pytest", "test", "pytest", ""),
        ("FOO=1 timeout 60 python -m pytest -x tests/", "test", "pytest", ""),
        ("uv run pytest tests/test_a.py::test_b -v", "test", "pytest", "tests/test_a.py::test_b"),
        ("cd web && npx jest src/a.test.ts 2>&1 | tail -20", "test", "jest", "src/a.test.ts"),
        ("npm run test:unit", "test", "npm run test:unit", ""),
        ("go test ./... -run TestX", "test", "go test", "TestX"),
        ("cargo test --lib parse_", "test", "cargo test", "parse_"),
        ("mvn -q -Dtest=FooTest test", "test", "mvn test", "-Dtest=FooTest"),
        ("./gradlew test --tests Foo", "test", "gradlew test", "Foo"),
        ("make -C build test", "test", "make test", ""),
        ("docker compose exec -T web pytest -q", "test", "pytest", ""),
        ("./run_tests.sh", "test", "run_tests.sh", "run_tests.sh"),
        ("python tests/run.py", "test", "python tests/run.py", "tests/run.py"),
        ("npx tsc --noEmit", "build", "tsc", ""),
        ("ruff check src", "lint", "ruff", "check"),
    ],
)
def test_checks_are_known_however_they_are_started(
    command: str, kind: str, name: str, target: str
) -> None:
    check, _ = check_in(parts(command))
    assert check is not None
    assert (check.kind, check.name, check.target) == (kind, name, target)


@pytest.mark.parametrize(
    "command", ["ls tests", "cat test.py", "echo pytest", "git log --grep test", "npm install jest"]
)
def test_what_only_names_a_check_is_none(command: str) -> None:
    assert check_in(parts(command))[0] is None


def test_exit_code_belongs_to_the_last_part() -> None:
    assert check_in(parts("cd a && pytest"))[1]
    assert not check_in(parts("pytest | tail"))[1]
    assert not check_in(parts("pytest || true"))[1]


def test_quotes_here_documents_and_shells_are_understood() -> None:
    assert [part.words for part in parts("echo 'a && b' | grep \"c; d\"")] == [
        ("echo", "a && b"),
        ("grep", "c; d"),
    ]
    assert [part.words for part in parts("cat > a <<'EOF'\nrm -rf x; pytest\nEOF\nls")] == [
        ("cat",),
        ("ls",),
    ]
    assert unwrapped("/bin/bash -lc 'make test'") == "make test"
    assert unwrapped("bash run.sh") == "bash run.sh"


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("sed -i 's/a/b/' src/x.py", ["src/x.py"]),
        ("echo hi >> log.txt", ["log.txt"]),
        ("cat > a.py <<'EOF'\nx > y.txt\nEOF", ["a.py"]),
        ("make 2>&1 | tee out.txt", ["out.txt"]),
        ("make > /dev/null 2>&1", []),
        ("sed -n 1,5p a.py", []),
    ],
)
def test_files_that_a_command_writes_are_known(command: str, files: list[str]) -> None:
    assert writes(parts(command)) == files


def test_waiting_is_known_and_a_filter_is_no_waiting() -> None:
    assert polls(parts("sleep 5 && curl -s https://example.com"))
    assert polls(parts("kubectl -n shop get pods"))
    assert polls(parts("until curl -f localhost; do sleep 1; done"))
    assert not polls(parts("make 2>&1 | tail -5"))


GIT_WORDS = """
    commit stash push pop reset restore checkout merge -- -s --source -q --hard -S . a.py HEAD~1
    --continue --ours -C main
"""


@given(words=st.lists(st.sampled_from(GIT_WORDS.split()), max_size=7))
def test_whatever_git_is_given_only_what_it_names_is_restored(words: list[str]) -> None:
    for step in git_steps(parts(" ".join(["git", *words]))):
        assert step.does in ("commit", "stash", "pop", "drop", "restore", "reset")
        assert set(step.paths) <= set(words)


def test_git_commands_are_read_with_their_options() -> None:
    steps = git_steps(
        parts(
            "git -C repo restore -s main --worktree a.py; git -c x=y stash push -m 'a b' && git checkout -p"
        )
    )
    assert [(step.does, step.paths) for step in steps] == [
        ("restore", ("a.py",)),
        ("stash", ("a b",)),
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a.py:12:3: error: bad", "a.py:44:9: error: bad"),
        ("error after 1.23s", "error after 44.1 seconds"),
        ("fatal at 0x7ffde3a1", "fatal at 0x55aa0021"),
        ("2026-11-15T10:00:00Z error: bad", "2026-11-16T11:22:33.123Z error: bad"),
        ("error in /tmp/tmpab12cd34/x", "error in /tmp/tmpzz98yy76/x"),
        ("error: pid 1234 died", "error: pid 88 died"),
        (
            "request 3f2b8c1d-aaaa-bbbb-cccc-0123456789ab failed",
            "request 11111111-aaaa-bbbb-cccc-0123456789ab failed",
        ),
    ],
)
def test_what_differs_each_time_does_not_make_another_error(one: str, other: str) -> None:
    assert signature(one) == signature(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("error: 12 left", "error: 3 left"),
        ("assert 2 == 3 failed", "assert 1 == 3 failed"),
        ("no module named yaml", "no module named lxml"),
        ("FAILED p99 is 910 ms", "FAILED p99 is 250 ms"),
    ],
)
def test_what_tells_progress_makes_another_error(one: str, other: str) -> None:
    assert signature(one) != signature(other)


def test_signature_that_says_too_little_is_empty() -> None:
    assert signature("Exit code 1") == ""
    assert signature("") == ""
    assert settled("ok") == "ok"


def test_outcome_of_a_hidden_check_comes_from_its_output() -> None:
    command = parts("pytest | tail -3")
    check, _ = check_in(command)

    def kind(text: str) -> str:
        return outcome_of(ToolResult(id="1", text=text), "shell", command, check).kind

    assert kind("1 failed, 2 passed in 0.1s") == "failed"
    assert kind("3 passed, 0 failed") == "ok"
    assert kind("2 passed, 1 xfailed") == "ok"
    assert kind("something else") == "unclear"


def test_one_line_has_no_controls_and_is_not_longer_than_asked() -> None:
    assert masked_line("a\x1b[31m b\r\n\u202ec\x00\u2028d") == "a b c d"
    assert len(masked_line("word " * 700)) <= LONGEST
    assert len(masked_line("word " * 100, 50)) <= 50
    assert masked_line("x" * 3_000).endswith("…")
    assert masked_line("x" * 30_000) == "…"
    assert masked_line("a b " * 30_000, 100_000).endswith("b …")


def test_half_of_a_secret_is_never_told_however_much_is_masked_before_it() -> None:
    block = (
        "-----BEGIN RSA PRIVATE KEY-----\n"
        + "abcdefghijklmnopqrstuvwx\n" * 150
        + "-----END RSA PRIVATE KEY-----\n"
    )
    for width in range(180, 240):
        told = masked_line(
            block + "x" * width + " sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"
        )
        assert "sk-ant-api" not in told


@pytest.mark.parametrize(
    ("command", "kind", "name", "target"),
    [
        ("forge test --match-contract VaultTest -vvv", "test", "forge test", "VaultTest"),
        ("dune runtest", "test", "dune runtest", ""),
        ("julia --project -e 'using Pkg; Pkg.test()'", "test", "julia Pkg.test", ""),
        (
            "Rscript -e 'devtools::test(filter = \"tax\")'",
            "test",
            "Rscript devtools::test",
            "filter = tax",
        ),
        ("prove -l t/date.t", "test", "prove", "t/date.t"),
        ("nix build .#shop", "build", "nix build", ".#shop"),
        ("./gradlew :app:compileKotlin", "build", "gradlew :app:compileKotlin", ""),
        (
            "godot --headless -s gut.gd -gtest=res://test/test_player.gd",
            "test",
            "godot",
            "test_player.gd",
        ),
    ],
)
def test_a_check_that_no_list_names_says_itself_what_it_is(
    command: str, kind: str, name: str, target: str
) -> None:
    found, is_last = check_in(parts(command))
    assert found is not None
    assert is_last
    assert (found.kind, found.name, found.target) == (kind, name, target)


@pytest.mark.parametrize(
    "command",
    [
        "mkdir test",
        "cat tests",
        "git checkout test",
        "rm -rf build",
        "python check",
        "vim test_a.py",
    ],
)
def test_a_file_of_that_name_is_no_check(command: str) -> None:
    assert check_in(parts(command)) == (None, True)
