"""Commands that change rules at the same moment, killed in the middle or without a disk, lose no
rule."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
from pathlib import Path

import pytest

from brim.rules.file import RulesFile
from brim.rules.reading import read_rules
from tests.cli.conftest import COMMAND, Brim
from tests.cli.written import rules_in, rules_path, write_rule

ROUNDS = 5
"""Of each of the four commands: twenty processes."""


def begin(brim: Brim, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [COMMAND, *words],
        env=brim.environ,
        cwd=brim.cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def removed_names(brim: Brim) -> list[str]:
    path = brim.home / ".brim" / "removed.toml"
    return RulesFile(str(path)).read().split.names


def shared_world(brim: Brim) -> None:
    """Write rules to be edited and removed, and a project whose rules wait."""
    for number in range(ROUNDS):
        write_rule(brim, f"edited-{number}", f"Old words {number}.", block=f"old{number} now")
        write_rule(brim, f"removed-{number}", f"Going {number}.", block=f"going{number} now")
    write_rule(brim, "stays", "Never run stays.", block="stays now")
    write_rule(brim, "shared", "Never run shared.", place="project", block="shared now")
    assert brim("rules", "trust", "--yes").code == 0
    write_rule(brim, "newer", "Prefer newer.", place="project")


@pytest.mark.parametrize("seed", range(2))
def test_twenty_commands_at_once_some_of_them_killed(brim: Brim, seed: int) -> None:
    shared_world(brim)
    processes: dict[tuple[str, int], subprocess.Popen[bytes]] = {}
    for number in range(ROUNDS):
        processes["learn", number] = begin(
            brim, "learn", "--user", f"Learned words {number}.", "--block", f"learned{number} now"
        )
        processes["edit", number] = begin(
            brim, "rules", "edit", f"edited-{number}", "--text", f"New words {number}."
        )
        processes["remove", number] = begin(brim, "rules", "remove", f"removed-{number}")
        processes["trust", number] = begin(brim, "rules", "trust", "--yes")
    doomed = random.Random(seed).sample(sorted(processes), 8)
    for key in doomed[:4]:
        processes[key].kill()  # while it begins
    for key in sorted(processes):
        if key not in doomed:
            processes[key].wait(300)
            for other in doomed[4:]:
                processes[other].kill()  # while others work
    codes = {key: process.wait(300) for key, process in processes.items()}

    rules = rules_in(brim)
    assert rules.mistakes == ()
    texts = {rule.name: rule.text for rule in rules.rules}
    blocks = {block for rule in rules.rules for block in rule.block}
    assert "run stays now" in blocks
    for number in range(ROUNDS):
        new_words = f"New words {number}."
        assert texts[f"edited-{number}"] in (f"Old words {number}.", new_words)
        assert f"run old{number} now" in blocks
        if codes["edit", number] == 0:
            assert texts[f"edited-{number}"] == new_words
        is_kept = f"removed-{number}" in removed_names(brim)
        assert f"removed-{number}" in texts or is_kept
        if codes["remove", number] == 0:
            assert is_kept
            assert f"removed-{number}" not in texts
        if codes["learn", number] == 0:
            assert f"run learned{number} now" in blocks
    survivors = [code for key, code in codes.items() if key not in doomed]
    assert survivors == [0] * len(survivors)

    # No lock is left, and the index says what the text says.
    assert brim("learn", "--user", "One more rule.").code == 0
    listed = brim("rules", "--json").json["rules"]
    assert {rule["name"] for rule in listed} >= {*texts, "one-more-rule", "shared"}


COMMANDS = [
    ("learn", "--user", "Use uv.", "--block", "pip install"),
    ("rules", "edit", "stays", "--text", "Never run it."),
    ("rules", "remove", "stays"),
    ("rules", "trust", "--yes"),
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(words[:2]))
def test_on_a_full_disk_a_command_says_so_and_changes_nothing(
    brim: Brim, words: tuple[str, ...]
) -> None:
    write_rule(brim, "stays", "Never run stays.", block="stays now")
    write_rule(brim, "shared", "Never run shared.", place="project", block="shared now")
    before = rules_path(brim).read_bytes()

    def fill() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))

    done = subprocess.run(
        [COMMAND, *words],
        env=brim.environ,
        cwd=brim.cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=fill,
    )
    assert done.returncode != 0, done.stdout
    assert "Traceback" not in done.stderr
    assert "too large" in done.stderr
    assert rules_path(brim).read_bytes() == before
    assert [path for path in rules_path(brim).parent.iterdir() if path.suffix == ".tmp"] == []
    assert brim("rules", "why", "--run", "stays now", "--text").code == 0
    assert brim(*words).code == 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Path:
    """A disk of 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if os.getuid() != 0:
        pytest.skip("only root mounts a disk")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k,mode=700", "tmpfs", str(folder)],
        check=False,
        capture_output=True,
    )
    if mounted.returncode != 0:
        pytest.skip(f"no disk can be mounted here: {mounted.stderr.decode().strip()}")
    return folder


def test_when_a_disk_fills_up_no_rule_is_lost(brim: Brim, small_disk: Path) -> None:
    """Rules are learned until the disk is full; then it has room again."""
    home = {"BRIM_HOME": str(small_disk)}
    try:
        learned = 0
        while brim("learn", "--user", f"Rule {learned}. {'x' * 4_000}", env=home).code == 0:
            learned += 1
            assert learned < 20
        assert learned >= 2
        text = (small_disk / "rules.toml").read_text("utf-8")
        assert len(read_rules(text).rules) == learned
        assert read_rules(text).mistakes == ()
        shown = brim("rules", "--json", env=home)
        assert len(shown.json["rules"]) == learned
    finally:
        subprocess.run(["umount", "-l", str(small_disk)], check=True)
