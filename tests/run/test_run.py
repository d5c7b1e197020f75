"""``brim run`` with a program that speaks as the real client does, as a real process."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.cli.conftest import Brim
from tests.run import supervised_others
from tests.run.supervised_run import Run, program


@pytest.fixture
def run(brim: Brim, tmp_path: Path) -> Run:
    return Run(brim, tmp_path)


def test_the_prompt_is_the_first_line_and_the_answer_is_printed(run: Run) -> None:
    ran = run("fix the parser", client=("--model", "sonnet"))
    assert (ran.code, ran.out) == (0, "did: fix the parser\n")
    assert run.told == ["fix the parser"]
    (words,) = run.starts
    streams = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
    assert words == [*streams, "--model", "sonnet"]
    assert "10,000 of 200,000 tokens" in ran.err
    assert "finished\n  1 turn in" in ran.err


def test_hooks_of_the_agent_can_tell_that_they_are_supervised(run: Run) -> None:
    report = run("hi", "--json").json
    assert [entry["run"] for entry in run.heard if "run" in entry] == [report["run"]]


def test_turns_follow_one_another_in_one_process(run: Run) -> None:
    ran = run("one", "--then", "two", "--then", "three")
    assert ran.out == "did: one\ndid: two\ndid: three\n"
    assert len(run.starts) == 1


def test_what_people_said_and_what_was_written_is_in_the_scratch_file(run: Run) -> None:
    run("build it WRITE=/p/a.py", "--then", "and test it", "--task", "the parser")
    assert all(
        part in run.scratch
        for part in ("# Scratch: the parser", "build it", "and test it", "/p/a.py")
    )


def test_a_full_window_is_compacted_between_two_turns(run: Run) -> None:
    ran = run("BIG work", "--then", "go on", "--task", "fix the parser", "--json")
    assert run.told == [
        "BIG work",
        "/compact focus on fix the parser\nAfter compaction, read .context/scratch.md for preserved context.",
        [
            {
                "type": "text",
                "text": "The conversation was compacted. Read .context/scratch.md for preserved context.",
            },
            {"type": "text", "text": "go on"},
        ],
    ]
    assert (ran.json["compactions"], ran.json["turns"], ran.json["outcome"]) == (1, 2, "finished")


def test_a_command_after_a_compaction_stands_alone(run: Run) -> None:
    run("BIG work", "--then", "/review", "--json")
    assert run.told[-1] == "/review"


def test_a_compaction_that_is_refused_is_told_and_the_run_goes_on(run: Run) -> None:
    ran = run(
        "BIG one",
        "--then",
        "BIG two",
        "--then",
        "BIG three",
        "--then",
        "four",
        FAKE_COMPACT="refuse",
    )
    assert ran.code == 0
    assert "the agent did not compact: no compaction now" in ran.err
    assert [text[:8] for text in run.told] == [
        "BIG one",
        "/compact",
        "BIG two",
        "/compact",
        "BIG thre",
        "four",
    ]


def test_the_result_of_an_agent_in_the_background_is_no_reason_to_give_up_a_compaction(
    run: Run,
) -> None:
    ran = run("BIG LATE work", "--then", "go on", "--json")
    assert (ran.json["compactions"], ran.code) == (1, 0)


def test_the_agent_gets_what_is_left_as_its_own_limit(run: Run) -> None:
    run("hi", "--budget-usd", "2")
    (words,) = run.starts
    assert words[words.index("--max-budget-usd") + 1] == "1.900000"


def test_the_lower_of_two_limits_holds(run: Run) -> None:
    report = run("hi", "--budget-usd", "2", "--json", client=("--max-budget-usd", "1")).json
    assert report["limit"] == 1_000_000
    assert run.starts[0].count("--max-budget-usd") == 1


def test_at_the_limit_the_work_is_wrapped_up_from_what_was_held_back(run: Run) -> None:
    ran = run(
        "COST=0.96 work", "--then", "more", "--task", "the parser", "--budget-usd", "1", "--json"
    )
    report = ran.json
    assert (ran.code, report["outcome"], report["wrapped_up"], report["unsent"]) == (
        1,
        "limit",
        True,
        ["more"],
    )
    assert run.told[1].startswith(
        "The cost limit is reached: $0.96 of $1.00 is spent. Wrap up now: the parser\n"
    )
    _, second = run.starts
    assert second[second.index("--resume") + 1] == report["session"]
    assert float(second[second.index("--max-budget-usd") + 1]) == pytest.approx(0.04)


def test_on_limit_stop_sends_nothing_more(run: Run) -> None:
    ran = run(
        "COST=0.96 work", "--then", "more", "--budget-usd", "1", "--on-limit", "stop", "--json"
    )
    assert (ran.code, ran.json["wrapped_up"], len(run.told)) == (1, False, 1)


def test_on_limit_continue_goes_on_once_with_a_tenth_more(run: Run) -> None:
    limit = ("--budget-usd", "1", "--on-limit", "continue")
    turns = ("COST=0.96 WRITE=/p/a.py one", "--then", "COST=0.2 two", "--then", "three")
    ran = run(*turns, *limit, "--task", "the parser", "--json")
    assert ran.json["limit"] == 1_100_000
    assert run.told[1].startswith("You were cut short. First read .context/scratch.md")
    assert (ran.code, ran.json["outcome"]) == (1, "limit")


def test_a_limit_that_the_last_turn_reaches_is_no_failure_if_nothing_waits(run: Run) -> None:
    report = run("one", "--then", "COST=0.95 two", "--budget-usd", "0.95", "--json").json
    assert (report["outcome"], report["overshoot"]) == ("finished", 10_000)


def test_a_limit_that_cuts_the_last_turn_short_is_one(run: Run) -> None:
    ran = run("one", "--then", "COST=0.95 WRITE=/p/a.py two", "--budget-usd", "0.95", "--json")
    assert (ran.code, ran.json["outcome"]) == (1, "limit")


def test_nothing_may_be_spent_under_a_limit_of_nothing(run: Run) -> None:
    ran = run("hi", "--budget-usd", "0", "--json")
    assert (ran.code, ran.json["turns"], ran.json["unsent"]) == (1, 0, ["hi"])
    assert not run.log.exists()


def test_what_is_spent_counts_once_though_the_agent_keeps_no_session(run: Run) -> None:
    run.brim("limit", "5/day")
    report = run("COST=0.25 hi", "--then", "COST=0.5 more", "--json").json
    assert report["cost"] == 750_000
    for _ in range(2):
        assert run.brim("limit", "--json").json["limits"][0]["spent"] == 750_000
    for path in (run.brim.home / ".brim").glob("index.db*"):
        path.unlink()
    assert run.brim("limit", "--json").json["limits"][0]["spent"] == 750_000


def test_a_limit_of_the_project_holds_too_and_is_not_begun_anew(run: Run) -> None:
    run.brim("limit", "1/day")
    assert run("COST=0.6 hi", "--json").code == 0
    ran = run("COST=0.97 hi", "--then", "more", "--json")
    assert (ran.code, ran.json["outcome"]) == (1, "limit")
    assert ran.json["why"].endswith("of $1.00 today in work")
    ran = run("hi", "--json")
    assert (ran.code, ran.json["turns"]) == (1, 0)


def test_a_limit_in_tokens_ends_a_long_turn_and_the_work_is_wrapped_up(run: Run) -> None:
    run.brim("limit", "5k tokens/day")
    ran = run("TOKENS=4800 LONG hi", "--task", "the parser", "--json")
    assert (ran.code, ran.json["outcome"], ran.json["wrapped_up"]) == (1, "limit", True)
    assert ran.json["why"].startswith("paused at 4.8k of 5k tokens today in ")
    assert run.told[1].startswith("The limit is reached: 4.8k of 5k tokens is spent. Wrap up now")
    assert run("hi", "--json").json["turns"] == 0


def test_a_wrap_up_is_held_to_the_limit_in_tokens_too(run: Run) -> None:
    run.brim("limit", "5k tokens/day")
    ran = run("TOKENS=4800 hi", "--then", "more", "--task", "TOKENS=300 LONG", "--json")
    assert (ran.code, ran.json["outcome"], ran.json["wrapped_up"]) == (1, "limit", False)
    assert ran.json["why"].endswith("the wrap-up did not come to its end")


def test_without_tokens_there_is_no_wrap_up(run: Run) -> None:
    run.brim("limit", "5k tokens/day")
    ran = run("TOKENS=6000 LONG hi", "--json")
    assert (ran.json["outcome"], ran.json["wrapped_up"], ran.json["turns"]) == ("limit", False, 1)
    assert "nothing is left for a wrap-up" in ran.err


def test_a_limit_of_sub_agents_ends_a_long_turn(run: Run) -> None:
    run.brim("limit", "--subagent", "5k tokens")
    ran = run(
        "TOKENS=6000 AGENT LONG hi", "--task", "the parser", "--on-limit", "continue", "--json"
    )
    assert (ran.code, ran.json["outcome"], ran.json["turns"]) == (0, "finished", 2)
    assert run.told[1].startswith("You were cut short.")
    assert run("TOKENS=6000 hi", "--json").code == 0


def test_a_folder_without_a_repository_has_limits_of_its_own(run: Run) -> None:
    run.brim("limit", "1/day")
    ran = run("COST=0.97 hi", "--then", "more", "--on-limit", "stop", "--json")
    assert (ran.code, ran.json["outcome"]) == (1, "limit")
    (row,) = run.brim("limit", "--json").json["limits"]
    assert row["spent"] == 970_000


def test_what_a_resumed_session_had_cost_before_is_not_this_runs(run: Run) -> None:
    session = run("COST=0.5 hi", "--json").json["session"]
    report = run("COST=0.25 again", "--json", client=("--resume", session)).json
    assert run.starts[-1].count("--resume") == 1
    assert report["cost"] == 250_000


def test_a_failed_turn_ends_the_run(run: Run) -> None:
    ran = run("FAIL now", "--then", "more", "--json")
    assert (ran.code, ran.json["outcome"], ran.json["why"]) == (1, "failed", "API Error: 500")
    assert ran.json["unsent"] == ["more"]


def test_an_agent_that_dies_is_reported_with_its_exit_code(run: Run) -> None:
    ran = run("DIE", "--json")
    assert (ran.code, ran.json["client_exit"]) == (1, 3)
    assert ran.json["why"] == "claude ended with 3 before its turn was over"
    assert "DIE" in run.scratch


def test_noise_on_its_output_is_counted_and_skipped(run: Run) -> None:
    ran = run("NOISE", "--json")
    assert (ran.code, ran.json["broken_lines"], ran.json["turns"]) == (0, 3, 1)


def test_the_stream_is_handed_on_if_it_was_asked_for(run: Run) -> None:
    ran = run("hi", client=("--output-format", "stream-json", "--verbose"))
    assert [json.loads(line)["type"] for line in ran.lines] == ["system", "assistant", "result"]
    ran = run("hi", client=("--output-format", "json"))
    assert ran.json["result"] == "did: hi"


def test_the_prompt_may_come_from_standard_input(run: Run) -> None:
    ran = run.brim("run", "--", str(run.program), "-p", stdin="from a pipe", env=run.environ)
    assert ran.out == "did: from a pipe\n"


def test_a_read_only_home_does_not_stop_the_run(run: Run) -> None:
    ran = run("hi", "--json", BRIM_HOME="/dev/null/nowhere")
    assert (ran.code, ran.json["turns"]) == (0, 1)
    assert "counted but not saved" in ran.err


def test_an_agent_that_leaves_something_running_does_not_keep_the_run_waiting(run: Run) -> None:
    assert run("ORPHAN", "--json").json["outcome"] == "failed"
    os.kill(int((run.cwd / "orphan").read_text()), signal.SIGKILL)  # it was still running


def test_codex_is_resumed_for_each_turn_and_says_what_it_cannot(run: Run, tmp_path: Path) -> None:
    run.program = program(tmp_path / "codex", supervised_others.__file__, "codex")
    words = ("run", "--then", "two", "--", str(run.program), "exec", "one", "-m", "gpt-5")
    ran = run.brim(*words, env=run.environ)
    assert (ran.code, ran.out) == (0, "did: one\ndid: two\n")
    assert "codex cannot be asked to compact" in ran.err
    assert "codex takes no limit of its own" in ran.err
    assert run.starts[1] == [
        "exec",
        "--json",
        "-m",
        "gpt-5",
        "resume",
        supervised_others.SESSION,
        "--",
        "two",
    ]
    assert "two" in run.scratch


def test_gemini_is_resumed_for_each_turn_and_each_turn_is_paid(run: Run, tmp_path: Path) -> None:
    run.program = program(tmp_path / "gemini", supervised_others.__file__, "gemini")
    words = ("--json", "--", str(run.program), "-y", "-p", "one")
    once = run.brim("run", *words, env=run.environ).json
    twice = run.brim("run", "--then", "two", "--then", "three", *words, env=run.environ).json
    assert once["cost"] > 0
    assert twice["turns"] == 3
    assert twice["used_tokens"] == 10_000
    assert run.starts[-1][2:4] == ["--resume", supervised_others.SESSION]


def test_a_process_for_one_turn_that_fails_is_a_failure(run: Run, tmp_path: Path) -> None:
    run.program = program(tmp_path / "codex", supervised_others.__file__, "codex")
    ran = run.brim(
        "run", "--json", "--then", "two", "--", str(run.program), "exec", "FAIL", env=run.environ
    )
    assert (ran.code, ran.json["client_exit"], ran.json["unsent"]) == (1, 4, ["two"])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "which command?"),
        (("--", "vim", "x"), "an agent that brim can run"),
        (("--", "/nowhere/claude", "-p", "x"), "cannot be started"),
        (("--", "claude", "-p"), "no prompt: the command has none"),
        (("--", "claude", "-p", "one", "two"), "which is the prompt"),
        (("--then", " ", "--", "claude", "-p", "x"), "--then is empty"),
        (("--budget-usd", "much", "--", "claude", "-p", "x"), "isn't an amount"),
        (("--", "codex", "fix it"), "codex exec"),
    ],
)
def test_wrong_usage_is_said_in_one_line(brim: Brim, words: tuple[str, ...], says: str) -> None:
    ran = brim("run", *words)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err
