"""Files of rules: read by paragraph, changed byte for byte."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.errors import InputError, StoreError
from brim.rules.file import LARGEST, RulesFile, read_content
from brim.rules.reading import read_rules
from tests.waiting import PATIENCE

GOOD = '[first]\ntext = "Use uv, never pip."\n\n'
LAST = '\n[last]\ntext = "Use pnpm, not npm."\nblock = "npm install"\n'

MISTAKES = {
    "misspelled key": ('[x]\ntext = "a"\nblok = ["npm ci"]\n', 3, "did you mean 'block'"),
    "no text": ('[x]\ntags = ["a"]\n', 1, "x has no text"),
    "empty text": ('[x]\ntext = " "\n', 1, "x has no text"),
    "quotes in quotes": ('[x]\ntext = "Say "please" first."\n', 2, "quotes inside of quotes"),
    "backslash": ('[x]\ntext = "In C:\\tools\\new."\n', 2, "single quotes"),
    "unknown escape": ('[x]\ntext = "In C:\\dir."\n', 2, "single quotes"),
    "smart quotes": ("[x]\ntext = “From a web page.”\n", 2, "aren't plain ones"),
    "no quotes": ("[x]\ntext = Use uv\n", 2, "needs quotes"),
    "glob without quotes": ('[x]\ntext = "a"\nwhen = *.rs\n', 3, "needs quotes"),
    "list without quotes": ('[x]\ntext = "a"\nwhen = [*.rs]\n', 3, ""),
    "colon": ('[x]\ntext: "a"\n', 2, "= instead of the colon"),
    "no end of quotes": ('[x]\ntext = "Use uv\n', 2, ""),
    "no end of a list": ('[x]\ntext = "a"\nblock = ["npm ci", "npm i"\n', 3, ""),
    "no end of several lines": ("[x]\ntext = '''\nUse uv\n", 2, ""),
    "key twice": ('[x]\ntext = "a"\ntext = "b"\n', 3, "here twice"),
    "name twice": ('[first]\ntext = "b"\n', 1, "another rule is called first"),
    "dotted name": ('[x.y]\ntext = "a"\n', 1, 'use letters, digits and -, or quotes: ["x.y"]'),
    "two brackets": ('[[x]]\ntext = "a"\n', 1, "begins with [name]"),
    "no second bracket": ('[x\ntext = "a"\n', 1, "begins with [name]"),
    "text behind the name": ('[x] text = "a"\n', 1, "begins with [name]"),
    "accents": ('[ünï]\ntext = "a"\n', 1, ""),
    "text is a number": ("[x]\ntext = 5\n", 2, "must be a text"),
    "must is a text": ('[x]\ntext = "a"\nmust = "yes"\n', 3, "true or false"),
    "unknown when": ('[x]\ntext = "a"\nwhen = "sometimes"\n', 3, "isn't a when"),
    "unknown key of when": ('[x]\ntext = "a"\nwhen = { fil = "a" }\n', 3, "a when has no 'fil'"),
    "unknown language": ('[x]\ntext = "a"\nwhen = { language = "klingon" }\n', 3, "klingon"),
    "several commands": ('[x]\ntext = "a"\nblock = "a && b"\n', 3, "isn't one simple command"),
    "unknown kind": ('[x]\ntext = "a"\nkind = "law"\n', 3, "isn't a kind"),
    "conflict": (
        '[x]\n<<<<<<< HEAD\ntext = "a"\n=======\ntext = "b"\n>>>>>>> other\n',
        2,
        "git couldn't merge",
    ),
    "invisible character": ('[x]\ntext = "Use\u200b uv"\n', 2, "U+200B"),
    "turned writing": ('[x]\ntext = "Use \u202euv"\n', 2, "U+202E"),
    "control character": ('[x]\ntext = "Use \\u001b[31m"\n', 2, ""),
    "latin-1": (b'[x]\ntext = "Gr\xfc\xdfe"\n'.decode("utf-8", "surrogateescape"), 2, "UTF-8"),
    "weight": ('[x]\ntext = "a"\nrequires = "last 5"\n', 3, "a weight is above 0"),
    "itself": ('[x]\ntext = "a"\nrequires = "x"\n', 3, "not to itself"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_costs_one_rule(case: str) -> None:
    """No other rule is lost, and the person gets the line."""
    paragraph, line, words = MISTAKES[case]
    text = read_rules(GOOD + paragraph + LAST)
    assert [rule.name for rule in text.rules] == ["first", "last"], text.mistakes
    (mistake,) = text.mistakes
    assert mistake.line == GOOD.count("\n") + line, mistake
    assert words in mistake.message


@pytest.mark.parametrize(
    "paragraph",
    [
        '[x]\ntext = "100 % #sure, see issue #12."  # a comment\n',
        "[x]\ntext = '''\nA list:\n[not-a-name]\n- stays part of this text'''\n",
        '[x]\ntext = """\nOne\n[two]\n[three]\n"""\n',
        '[x]\ntext = "a"\nblock = [\n  "npm ci",  # [no]\n  "npm install",\n]\n',
        "  [x]\n  text = 'indented'\n",
        '["x"]\ntext = "quoted"\n',
        "[x]   # why\ntext='no spaces'\n",
        "[x]\ntext = '''\n\tA tab'''\n",
        '[x]\ntext = "👩\u200d💻 and می\u200cخواهم"\n',
    ],
)
def test_what_looks_odd_and_is_right(paragraph: str) -> None:
    text = read_rules(GOOD + paragraph + LAST)
    assert [rule.name for rule in text.rules] == ["first", "x", "last"]
    assert text.mistakes == ()


def test_what_stands_above_the_first_rule_is_told() -> None:
    text = read_rules('text = "Use uv."\n\n[a]\ntext = "b"\n')
    assert [rule.name for rule in text.rules] == ["a"]
    assert text.mistakes[0].line == 1


def test_every_key_is_read() -> None:
    content = """
[fmt]
text        = "Run just fmt before you finish."
when        = "*.rs"
before_done = "just fmt"
kind        = "procedure"
tags        = ["a", "b"]
summary     = "just fmt"
must        = true
related     = "lint"
requires    = ["tools 0.5"]
section     = "Work"
learned     = 2026-03-04
instead_of  = "cargo fmt"
"""
    (rule,) = read_rules(content).rules
    assert str(rule.when) == "*.rs"
    assert (rule.before_done, rule.kind, rule.tags) == ("just fmt", "procedure", ("a", "b"))
    assert [(edge.kind, edge.target, edge.weight) for edge in rule.edges] == [
        ("related", "lint", 1.0),
        ("requires", "tools", 0.5),
    ]
    assert (rule.learned, rule.instead_of, rule.is_must) == ("2026-03-04", "cargo fmt", True)


@pytest.fixture
def file(tmp_path: Path) -> RulesFile:
    return RulesFile(str(tmp_path / "rules.toml"))


def write(file: RulesFile, text: str) -> None:
    Path(file.path).write_bytes(text.encode("utf-8", "surrogateescape"))


def content(file: RulesFile) -> str:
    return Path(file.path).read_bytes().decode("utf-8", "surrogateescape")


HAND_WRITTEN = """# my rules
#   -- Ana, started 2026-05

[uv]
text  = "Use uv, never pip."     # pip broke the lock file twice
block = ["pip install"]          # refused

# -- git ----

[push]
text = 'Never push to main.'
broken = here

[windows]\r
text = 'C:\\tools'\r
"""


def test_learning_keeps_every_byte(file: RulesFile) -> None:
    write(file, HAND_WRITTEN + "# \udcff\n")
    assert file.add("pnpm", {"text": 'Say "pnpm", not npm', "block": ["npm ci"]}) == "pnpm"
    assert content(file).startswith(HAND_WRITTEN + "# \udcff\n")
    rule = file.read().rule("pnpm")
    assert rule is not None
    assert (rule.text, rule.block) == ('Say "pnpm", not npm', ("run npm ci",))


def test_a_byte_order_mark_stays(file: RulesFile) -> None:
    write(file, "\ufeff" + GOOD)
    file.add("pnpm", {"text": "Use pnpm."})
    file.remove("first")
    assert content(file) == '\ufeff[pnpm]\ntext = "Use pnpm."\n'


def test_learning_takes_a_free_name(file: RulesFile) -> None:
    assert [file.add("uv", {"text": f"Rule {number}"}) for number in range(3)] == [
        "uv",
        "uv-2",
        "uv-3",
    ]


def test_learning_inserts_by_name_where_the_file_is_sorted(file: RulesFile) -> None:
    for name in ("a", "c", "d", "b"):
        file.add(name, {"text": f"Rule {name}"})
    assert [rule.name for rule in file.read().rules] == ["a", "b", "c", "d"]


def test_a_change_keeps_comments_and_order(file: RulesFile) -> None:
    write(file, HAND_WRITTEN)
    file.change("uv", {"text": "Use uv.", "block": [], "when": "*.py"})
    expected = HAND_WRITTEN.replace('"Use uv, never pip."', '"Use uv."').replace(
        'block = ["pip install"]          # refused\n', 'when = "*.py"\n'
    )
    assert content(file) == expected


def test_a_change_that_makes_no_rule_changes_nothing(file: RulesFile) -> None:
    write(file, HAND_WRITTEN)
    with pytest.raises(InputError, match="isn't a when"):
        file.change("uv", {"when": "sometimes"})
    with pytest.raises(InputError, match="no rule is called"):
        file.change("nobody", {"when": "*.py"})
    assert content(file) == HAND_WRITTEN


def test_removing_and_restoring(file: RulesFile, tmp_path: Path) -> None:
    write(file, HAND_WRITTEN)
    removed = RulesFile(str(tmp_path / "removed.toml"))
    file.remove("uv", removed, day="2026-11-19")
    assert "[uv]" not in content(file)
    assert "# pip broke the lock file twice" in content(removed)
    assert file.restore("uv", removed) == "uv"
    rule = file.read().rule("uv")
    assert rule is not None
    assert rule.block == ("run pip install",)
    assert "removed" not in content(file)
    assert removed.read().rules == ()


def test_a_broken_rule_can_be_removed_and_replaced(file: RulesFile, tmp_path: Path) -> None:
    write(file, HAND_WRITTEN)
    file.replace("push", "[push]\ntext = 'Never push to main.'\n")
    assert file.read().mistakes == ()
    assert content(file) == HAND_WRITTEN.replace("broken = here\n", "")


TEXTS = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Cf", "Zl", "Zp", "Co", "Cn")), min_size=1
).filter(lambda text: text.strip() == text and text != "")


@given(texts=st.lists(TEXTS, min_size=1, max_size=5), newline=st.sampled_from(["\n", "\r\n"]))
def test_whatever_is_written_is_read_again(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], newline: str
) -> None:
    file = RulesFile(str(tmp_path_factory.mktemp("rules") / "rules.toml"))
    write(file, HAND_WRITTEN.replace("\r", "").replace("\n", newline))
    names = [file.add("rule", {"text": text}) for text in texts]
    read = file.read()
    for name, text in zip(names, texts, strict=True):
        rule = read.rule(name)
        assert rule is not None
        assert rule.text == text
    for name in names:
        file.remove(name)
    assert content(file) == HAND_WRITTEN.replace("\r", "").replace("\n", newline)


@given(st.text(max_size=300))
def test_no_text_is_too_strange(text: str) -> None:
    read_rules(GOOD + text)


def test_what_is_not_a_file_of_ours_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    real = tmp_path / "real.toml"
    real.write_text(GOOD)
    path.symlink_to(real)
    assert "is a link" in read_content(str(path)).problem
    assert read_content(str(path), follow_links=True).text == GOOD
    path.unlink()
    os.mkfifo(path)
    assert "pipe" in read_content(str(path)).problem
    path.unlink()
    path.mkdir()
    assert "folder" in read_content(str(path)).problem
    path.rmdir()
    with path.open("wb") as written:
        written.truncate(LARGEST + 1)
    assert "larger than 8 MB" in read_content(str(path)).problem
    path.write_bytes(GOOD.encode("utf-16"))
    assert "UTF-16" in read_content(str(path)).problem
    path.write_bytes(b"\0" * 100)
    assert "NUL" in read_content(str(path)).problem
    path.unlink()
    assert read_content(str(path)).is_missing


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root")
def test_files_of_other_users_are_refused(file: RulesFile) -> None:
    write(file, GOOD)
    os.chown(file.path, 65_534, 65_534)
    assert "another user" in file.content().problem
    with pytest.raises(StoreError, match="another user"):
        file.add("x", {"text": "y"})


def test_a_change_keeps_permissions_and_a_link_of_the_user(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text(GOOD)
    real.chmod(0o640)
    link = tmp_path / "rules.toml"
    link.symlink_to(real)
    RulesFile(str(link), follow_links=True).add("x", {"text": "y"})
    assert link.is_symlink()
    assert "[x]" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640


def learn_many(path: str, worker: int) -> None:
    file = RulesFile(path)
    for number in range(1_000):
        file.add(f"rule-{worker}-{number}", {"text": f"Rule {number} of {worker}."})


def test_twenty_processes_learn_at_once_and_some_are_killed(file: RulesFile) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=learn_many, args=(file.path, number)) for number in range(20)]
    for worker in workers:
        worker.start()
    ends = time.monotonic() + PATIENCE
    while not os.path.exists(file.path) or len(file.read().rules) < 40:
        assert time.monotonic() < ends
        time.sleep(0.05)
    for worker in workers:
        assert worker.pid is not None
        os.kill(worker.pid, signal.SIGKILL)
        worker.join()
    text = file.read()
    assert text.mistakes == ()
    assert len(text.rules) >= 40
    file.add("still", {"text": "It can be changed."})
    by_worker: dict[str, list[int]] = {}
    for rule in text.rules:
        _, worker_name, number = rule.name.split("-")
        by_worker.setdefault(worker_name, []).append(int(number))
    for numbers in by_worker.values():  # nothing that was learned is lost
        assert sorted(numbers) == list(range(len(numbers)))


def test_a_conflict_is_one_mistake_on_its_first_line() -> None:
    conflict = "<<<<<<< HEAD\n[a]\ntext = 'x'\n=======\n[b]\ntext = 'y'\n>>>>>>> other\n"
    text = read_rules(GOOD + conflict + LAST)
    assert len(text.mistakes) == 1
    assert "git couldn't merge this" in str(text.mistakes[0])
