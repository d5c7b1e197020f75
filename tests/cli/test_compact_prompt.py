"""``brim compact-prompt`` prints the request to compact, and nothing else."""

from __future__ import annotations

from tests.cli.conftest import Brim


def test_the_request_is_printed(brim: Brim) -> None:
    ran = brim("compact-prompt", "--task", "fix the parser", "--state", "EXECUTING", "--scratch", ".context/scratch.md")
    assert (ran.code, ran.err) == (0, "")
    assert ran.lines == [
        "/compact focus on fix the parser -- current CfA state is EXECUTING",
        "After compaction, read .context/scratch.md for preserved context.",
    ]


def test_without_anything_it_is_about_the_current_task(brim: Brim) -> None:
    assert brim("compact-prompt").out == "/compact focus on the current task\n"


def test_the_task_can_come_from_standard_input(brim: Brim) -> None:
    ran = brim("compact-prompt", "--task", "-", "--json", stdin="fix\nthe \x1b[31mparser\x07")
    assert ran.json == {
        "text": "/compact focus on fix the parser",
        "task": "fix the parser",
        "cfa_state": "",
        "scratch_path": None,
    }


def test_a_long_task_is_cut(brim: Brim) -> None:
    assert len(brim("compact-prompt", "--task", "x" * 5_000).out) < 230


def test_anything_else_is_wrong_usage(brim: Brim) -> None:
    assert brim("compact-prompt", "fix the parser").code == 2
