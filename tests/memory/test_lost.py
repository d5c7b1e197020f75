"""What comes back after a compaction: a person's words first, and never more than is worth it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from brim.memory.comparison import KINDS
from brim.memory.lost import (
    COMMANDS,
    FILES,
    LINES,
    MOST_LINES,
    CompactionReport,
    LostFact,
    chosen,
    give_back,
    line_of,
)
from brim.memory.ranking import BINDING, CHANGED, COMMAND, LATEST, OTHER, READ_AGAIN
from tests.texts import ANY_TEXT

FACTS = st.builds(
    LostFact,
    kind=st.sampled_from(KINDS),
    text=ANY_TEXT.filter(str.strip),
    uses=st.integers(1, 9),
    level=st.integers(BINDING, OTHER),
)


def report_of(*items: LostFact) -> CompactionReport:
    lost = {kind: sum(item.kind == kind for item in items) for kind in KINDS}
    return CompactionReport(None, "s", in_window=lost, lost=lost, items=items)


@given(items=st.lists(FACTS, max_size=80))
def test_own_words_come_first_and_the_number_of_others_is_bounded(items: list[LostFact]) -> None:
    returned = chosen(items)
    own_words = [item for item in items if item.level == BINDING][:MOST_LINES]
    assert list(returned[: len(own_words)]) == own_words
    others = returned[len(own_words) :]
    assert len(others) <= LINES
    assert len(returned) <= MOST_LINES
    assert all(item in items for item in others)
    assert all(item.level < OTHER for item in others)


@given(items=st.lists(FACTS, min_size=1, max_size=80))
def test_what_is_not_given_back_is_counted_with_the_file_that_has_it(items: list[LostFact]) -> None:
    returned = give_back(report_of(*items), ".context/scratch.md")
    assert returned is not None
    lines = returned.text.splitlines()
    for item in returned.items:
        assert f"  - {line_of(item.kind, item.text)}" in lines
    remaining = len(items) - len(returned.items)
    if remaining:
        assert lines[-1] == f"  - and {remaining:,} more: .context/scratch.md has them"
    assert ".context/scratch.md" in returned.text


def test_few_files_come_back_however_many_were_lost() -> None:
    files = [LostFact("file", f"{number}.py", 2, level=READ_AGAIN) for number in range(2 * FILES)]
    command = LostFact("command", "make test", 1, level=LATEST)
    assert chosen([*files, command]) == (*files[:FILES], command)


def test_few_commands_that_ran_once_come_back() -> None:
    once = [LostFact("command", f"make {name}", 1, level=LATEST) for name in "abcdefg"]
    again = LostFact("command", "make test", 2, level=COMMAND)
    assert chosen([again, *once]) == (again, *once[:COMMANDS])


def test_a_command_that_was_done_with_stays_in_the_file() -> None:
    done = LostFact("command", "php -v", 1, level=OTHER)
    failed = LostFact("command", "make test", 2, level=COMMAND)
    assert chosen([failed, done]) == (failed,)


def test_a_file_that_a_returned_command_names_is_not_named_twice() -> None:
    command = LostFact("command", "helm upgrade -f values.yaml", 2, level=COMMAND)
    named = LostFact("file", "values.yaml", 1, level=CHANGED)
    other = LostFact("file", "app.yaml", 1, level=CHANGED)
    assert chosen([command, named, other]) == (command, other)


def test_nothing_lost_gives_nothing_back() -> None:
    assert give_back(report_of()) is None
