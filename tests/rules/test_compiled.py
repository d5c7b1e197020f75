"""The index of rules: always what the text says, whatever happens to it."""

from __future__ import annotations

import multiprocessing
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from brim.rules.accepted import AcceptedRules
from brim.rules.blocks import EDIT, RUN, TOOL
from brim.rules.compiled import NAME, RuleIndex, ask_index, open_index, rebuild_index
from brim.rules.file import RulesFile
from brim.rules.source import RuleSource, sources_for
from brim.rules.stored import StoredRules
from tests.waiting import PATIENCE

UV = '[uv]\ntext = "Use uv, never pip."\nblock = ["pip install"]\n\n'
PUSH = '[push]\ntext = "Never push to main."\n'


def names(index: RuleIndex) -> list[str]:
    rows = index.database.execute("SELECT name FROM rules ORDER BY source, position").fetchall()
    return [row[0] for row in rows]


def blocks(index: RuleIndex) -> list[str]:
    rules = StoredRules(index).blocking((RUN, EDIT, TOOL), lambda kind, pattern: True)
    return [block for rule in rules for block in rule.blocks]


def checked(index: RuleIndex) -> list[str]:
    rows = index.database.execute(
        "SELECT name FROM rules WHERE check_text <> '' ORDER BY source, position"
    )
    return [row[0] for row in rows]


class Home:
    """A user's folder and a project."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "home"
        self.path.mkdir()
        self.project = folder / "shop"
        (self.project / ".brim").mkdir(parents=True)
        self.own = self.path / "rules.toml"
        self.index = self.path / NAME

    @property
    def sources(self) -> list[RuleSource]:
        return sources_for(str(self.path), str(self.project))

    def ask(self, limit: int | None = 60) -> list[str]:
        return ask_index(str(self.path), self.sources, names, limit=limit)

    def blocks(self, limit: int | None = 60) -> list[str]:
        return ask_index(str(self.path), self.sources, blocks, limit=limit)

    def news(self) -> list[str]:
        index = open_index(str(self.path), self.sources, limit=60)
        index.close()
        return index.news


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.own.write_text(UV + PUSH)
    assert home.ask() == ["uv", "push"]
    return home


def remove(path: Path) -> None:
    path.unlink()


def garble(path: Path) -> None:
    path.write_bytes(b"garbage" * 1_000)


def empty(path: Path) -> None:
    path.write_bytes(b"")


def zero(path: Path) -> None:
    path.write_bytes(b"\0" * path.stat().st_size)


def cut(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def zero_the_end(path: Path) -> None:
    data = path.read_bytes()
    half = len(data) // 2
    path.write_bytes(data[:half] + b"\0" * (len(data) - half))


def change_version(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()


def lose_rows(path: Path) -> None:
    database = sqlite3.connect(path)
    database.execute("DELETE FROM rules WHERE blocks <> '[]'")
    database.commit()
    database.close()


def make_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def make_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


DAMAGES = [
    remove,
    garble,
    empty,
    zero,
    cut,
    zero_the_end,
    change_version,
    lose_rows,
    make_folder,
    make_pipe,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_removes_no_rule(home: Home, damage: Callable[[Path], None]) -> None:
    damage(home.index)
    assert home.ask() == ["uv", "push"]
    assert home.blocks() == ["run pip install"]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_and_a_mistake_remove_no_rule(home: Home, damage: Callable[[Path], None]) -> None:
    damage(home.index)
    home.own.write_text(UV.replace("text", "txt") + PUSH)
    assert sorted(home.ask()) == ["push", "uv"]
    assert home.blocks() == ["run pip install"]
    assert "did you mean 'text'" in home.news()[0]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_and_a_missing_file_remove_no_rule(
    home: Home, damage: Callable[[Path], None]
) -> None:
    damage(home.index)
    home.own.unlink()
    assert home.ask() == ["uv", "push"]
    assert home.blocks() == ["run pip install"]


def test_a_change_is_noticed_however_fast(home: Home) -> None:
    for number in range(50):
        home.own.write_text(f'[uv]\ntext = "Use uv {number % 10}."\n{PUSH}')
        index = open_index(str(home.path), home.sources)
        (row,) = index.database.execute("SELECT text FROM rules WHERE name = 'uv'").fetchall()
        index.close()
        assert row[0] == f"Use uv {number % 10}."


def test_nothing_is_written_if_nothing_has_changed(home: Home) -> None:
    before = home.index.stat()
    assert home.ask() == ["uv", "push"]
    after = home.index.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_projects_rules_need_consent(home: Home) -> None:
    file = home.project / ".brim" / "rules.toml"
    file.write_text('[pnpm]\ntext = "Use pnpm."\n')
    assert home.ask() == ["uv", "push"]
    AcceptedRules(str(home.path), str(home.project)).accept(file.read_text())
    assert home.ask() == ["uv", "push", "pnpm"]
    (home.project / "AGENTS.md").write_text("- Use tabs.\n")
    assert len(home.ask()) == 4
    file.write_text('[pnpm]\ntext = "Use npm."\n')
    assert home.news() == ["1 rule of this project is new or changed: brim rules trust"]


def ask_without_a_disk(home: Home) -> None:
    """Ask in a process that may not write a single byte."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    assert home.ask() == ["uv", "push"]
    assert home.blocks() == ["run pip install"]
    assert "can't be written" in home.news()[-1]
    os._exit(0)


@pytest.mark.parametrize("damage", DAMAGES)
def test_without_a_disk_rules_are_read_from_the_text(
    home: Home, damage: Callable[[Path], None]
) -> None:
    damage(home.index)
    process = multiprocessing.get_context("fork").Process(target=ask_without_a_disk, args=(home,))
    process.start()
    process.join(PATIENCE)
    assert process.exitcode == 0


def many_rules(count: int) -> str:
    text = ['[last]\ntext = "No pip."\nblock = "pip install"\n']
    for number in range(count):
        text.append(f'[rule-{number}]\ntext = "Rule number {number} about topic{number % 97}."\n')
    return "\n".join(text)


def test_ten_thousand_rules_are_compiled_beside_the_hook(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.own.write_text(many_rules(10_000))
    asked: list[list[RuleSource]] = []
    found = ask_index(str(home.path), home.sources, blocks, limit=60, in_background=asked.append)
    assert found == ["run pip install"]
    assert [source.path for source in asked[0]] == [str(home.own)]
    assert len(home.ask(limit=None)) == 10_001
    assert len(home.ask()) == 10_001
    home.own.write_text(home.own.read_text() + '[new]\ntext = "One more."\nblock = "npm ci"\n')
    assert len(home.ask()) == 10_002


def forbidding_rules(count: int) -> str:
    text = [
        '[last]\ntext = "Never use sudo."\nblock = true\n[pip]\ntext = "No pip."\nblock = "pip"\n'
    ]
    for number in range(count):
        text.append(f'[rule-{number}]\ntext = "Never run `deploy{number} --now`."\n')
    return "\n".join(text)


def test_the_words_of_many_changed_rules_are_read_beside_a_hook_that_only_tells(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path)
    home.own.write_text(forbidding_rules(20))
    asked: list[list[RuleSource]] = []
    index = open_index(
        str(home.path),
        home.sources,
        limit=60,
        in_background=asked.append,
        needs_checks=False,
    )
    assert len(names(index)) == 22, "every rule can be told"
    assert blocks(index) == ["run pip"]
    assert checked(index) == ["last"], "what a rule refuses is refused at once"
    assert asked == [home.sources]
    home.own.write_text(home.own.read_text().replace("deploy3 ", "deploy99 "))
    everything = ["last", *[f"rule-{number}" for number in range(20)]]
    for _ in range(2):
        with_checks = open_index(str(home.path), home.sources, limit=60, in_background=asked.append)
        assert [name for name in checked(with_checks) if name != "pip"] == everything
    assert len(asked) == 1


def test_the_words_of_few_changed_rules_are_read_at_once(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.own.write_text(forbidding_rules(2))
    asked: list[list[RuleSource]] = []
    index = open_index(
        str(home.path),
        home.sources,
        limit=60,
        in_background=asked.append,
        needs_checks=False,
    )
    assert {"last", "rule-0", "rule-1"} <= set(checked(index))
    assert asked == []


class TimeIsOverError(BaseException):
    """What a hook's clock raises, wherever the hook is."""


def end_the_time_at(function: str) -> Callable[[FrameType, str, object], None]:
    def look(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_name == function:
            raise TimeIsOverError

    return look


@pytest.mark.parametrize("function", ["compile_rule", "write_source", "replace_file"])
def test_what_a_hook_has_no_time_for_is_compiled_beside_it(home: Home, function: str) -> None:
    home.own.write_text(UV + PUSH + '[tabs]\ntext = "Use tabs."\n')
    asked: list[list[RuleSource]] = []
    sys.setprofile(end_the_time_at(function))
    try:
        with pytest.raises(TimeIsOverError):
            open_index(str(home.path), home.sources, limit=60, in_background=asked.append)
    finally:
        sys.setprofile(None)
    assert asked == [home.sources]
    assert home.ask() == ["uv", "push", "tabs"]
    assert [path.name for path in home.path.glob("*.tmp")] == []


def test_what_compiles_beside_a_hook_leaves_a_removed_home_removed(home: Home) -> None:
    home.own.write_text(UV)
    sources = home.sources
    shutil.rmtree(home.path)
    rebuild_index(str(home.path), sources)
    assert not home.path.exists()


def learn(home_path: str, project: str, number: int) -> None:
    file = RulesFile(os.path.join(home_path, "rules.toml"))
    while True:
        file.add(f"rule-{number}", {"text": f"A rule of {number}.", "block": f"tool{number}"})
        ask_index(home_path, sources_for(home_path, project), names)


def ask_often(home_path: str, project: str) -> None:
    while True:
        answer = ask_index(home_path, sources_for(home_path, project), names, limit=60)
        assert {"uv", "push"} <= set(answer)


def test_twenty_processes_at_once_and_kill_9(home: Home) -> None:
    context = multiprocessing.get_context("fork")
    arguments = (str(home.path), str(home.project))
    workers = [context.Process(target=ask_often, args=arguments) for _ in range(14)]
    workers += [context.Process(target=learn, args=(*arguments, number)) for number in range(6)]
    for worker in workers:
        worker.start()
    ends = time.monotonic() + PATIENCE
    while len(RulesFile(str(home.own)).read().rules) < 30:
        assert time.monotonic() < ends
        time.sleep(0.05)
        home.index.unlink(missing_ok=True)
    assert all(worker.is_alive() for worker in workers)  # no assertion failed
    for worker in workers:
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()
    written = [rule.name for rule in RulesFile(str(home.own)).read().rules]
    assert sorted(home.ask(limit=None)) == sorted(written)
    assert len(home.blocks()) == len(written) - 1


def start_on_a_missing_index(home_path: str, project: str) -> None:
    answer = ask_index(home_path, sources_for(home_path, project), names, limit=60)
    os._exit(0 if answer == ["uv", "push"] else 1)


def test_twenty_hooks_at_once_on_a_missing_index(home: Home) -> None:
    home.index.unlink()
    context = multiprocessing.get_context("fork")
    arguments = (str(home.path), str(home.project))
    hooks = [context.Process(target=start_on_a_missing_index, args=arguments) for _ in range(20)]
    for hook in hooks:
        hook.start()
    for hook in hooks:
        hook.join(PATIENCE)
    assert [hook.exitcode for hook in hooks] == [0] * 20
    assert [path.name for path in home.path.glob("*.tmp")] == []


def test_a_rule_that_is_damaged_in_the_index_is_read_from_its_text(home: Home) -> None:
    home.own.write_text(PUSH + UV, "utf-8")
    home.ask()
    damage = sqlite3.connect(home.index)
    damage.execute("UPDATE rules SET written = replace(written, 'main', 'mine')")
    damage.commit()
    damage.close()
    home.own.write_text(PUSH + UV.replace("never", "and never"), "utf-8")
    code = (
        "import sys; from brim.rules.compiled import open_index;"
        " from brim.rules.source import sources_for;"
        " index = open_index(sys.argv[1], sources_for(sys.argv[1], None), limit=60);"
        " print(*sorted(index.texts().values()))"
    )
    command = [sys.executable, "-c", code, str(home.path)]  # nothing was read there before
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "Never push to main. Use uv, and never pip.\n"
