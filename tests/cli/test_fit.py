"""``brim dev fit`` prints what the pruners return."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from brim.messages import (
    Decisions,
    FifoPruner,
    Pruner,
    SlidingWindowPruner,
    SummarizePruner,
    TieredPruner,
    ToolResultCap,
    WatermarkPruner,
)
from brim.messages.budget import Reserves
from brim.models.light import lookup
from brim.tokens.counters import counter_for
from tests.cli.conftest import Brim, Ran

EXAMPLES = Path(__file__).parents[2] / "examples"
AGENT: list[Any] = json.loads((EXAMPLES / "agent.json").read_text(encoding="utf-8"))
TOOLS: list[Any] = json.loads((EXAMPLES / "tools.json").read_text(encoding="utf-8"))
posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX only")


def fit(brim: Brim, *options: str, messages: Any = AGENT, model: str = "gpt-4o") -> Ran:
    brim.write("chat.json", json.dumps(messages))
    return brim("dev", "fit", "chat.json", "-m", model, *options)


def refused(ran: Ran, *words: str) -> None:
    """Assert that *ran* ended with 2, printed nothing, and said each of *words*."""
    assert (ran.code, ran.out) == (2, "")
    for word in words:
        assert word in ran.err, ran.err


# What comes out


@pytest.mark.parametrize(
    ("options", "pruner"),
    [
        ([], TieredPruner()),
        (["--strategy", "tiered"], TieredPruner()),
        (["--strategy", "fifo"], FifoPruner()),
        (["--strategy", "sliding"], SlidingWindowPruner()),
        (["--strategy", "sliding", "--turns", "1"], SlidingWindowPruner(turns=1)),
        (["--strategy", "summarize"], SummarizePruner()),
        (["--strategy", "summarize", "--min-turns", "1"], SummarizePruner(min_turns=1)),
        (["--strategy", "watermark"], WatermarkPruner()),
        (
            ["--strategy", "watermark", "--high", "0.9", "--low", "0.5"],
            WatermarkPruner(high=0.9, low=0.5),
        ),
        (
            ["--strategy", "watermark", "--low", "auto", "--min-turns", "1"],
            WatermarkPruner(low="auto", min_turns=1),
        ),
        (["--strategy", "cap"], ToolResultCap()),
        (["--strategy", "cap", "--cap", "60"], ToolResultCap(limit=60)),
    ],
    ids=lambda value: " ".join(value) or "default" if isinstance(value, list) else "",
)
def test_each_strategy_gives_what_the_library_gives(
    brim: Brim, options: list[str], pruner: Pruner
) -> None:
    expected = pruner.prune(AGENT, 400, model="gpt-4o")
    ran = fit(brim, "--tokens", "400", *options)
    assert (ran.code, ran.json) == (0, expected.messages)
    found = fit(brim, "--tokens", "400", *options, "--json")
    assert found.code == 0
    assert found.json["messages"] == expected.messages
    assert (found.json["tokens"], found.json["fits"]) == (int(expected.tokens), True)
    assert found.json["receipt"]["pruner"] == expected.receipt.pruner


def test_what_fits_is_left_as_it_is(brim: Brim) -> None:
    ran = fit(brim)
    assert (ran.code, ran.json) == (0, AGENT)
    assert "dropped" not in ran.err
    assert "cached" not in ran.err


def test_standard_input_is_read(brim: Brim) -> None:
    ran = brim("dev", "fit", "-", "-m", "gpt-4o", "--tokens", "400", stdin=json.dumps(AGENT))
    assert (ran.code, ran.json) == (0, TieredPruner().prune(AGENT, 400, model="gpt-4o").messages)


def test_fill_adds_older_messages(brim: Brim) -> None:
    messages = [
        {"role": "user", "content": word} for word in ("short", "long " * 200, "short", "last")
    ]
    assert len(fit(brim, "--tokens", "50", messages=messages).json) == 2
    filled = fit(brim, "--tokens", "50", "--fill", messages=messages)
    assert filled.json == TieredPruner().prune(messages, 50, model="gpt-4o", fill=True).messages
    assert len(filled.json) == 3


def test_pins_stay_by_place_and_by_the_id_of_a_call(brim: Brim) -> None:
    by_place = fit(brim, "--tokens", "300", "--pin", "1")
    assert AGENT[1] in by_place.json
    by_id = fit(brim, "--tokens", "1000", "--pin", "call_1", "--pin", "6")
    assert AGENT[2] in by_id.json
    assert AGENT[6] in by_id.json


@pytest.mark.parametrize("pin", ["15", "99999999999999999999", "call_9", "", "1.5", "9" * 5_000])
def test_a_pin_that_names_nothing_is_refused(brim: Brim, pin: str) -> None:
    refused(fit(brim, "--tokens", "400", "--pin", pin), "--pin", "15")


def test_a_pin_of_less_than_nothing_is_refused(brim: Brim) -> None:
    assert fit(brim, "--pin", "-1").code == 2
    refused(fit(brim, "--pin=-1"), "--pin -1")


def test_tools_count(brim: Brim) -> None:
    brim.write("tools.json", json.dumps(TOOLS))
    plain = fit(brim, "--json").json
    found = fit(brim, "--json", "--tools", "tools.json").json
    assert (
        found["tokens"] == TieredPruner().prune(AGENT, 10_000, model="gpt-4o", tools=TOOLS).tokens
    )
    assert found["tokens"] > plain["tokens"]


def test_the_provider_can_be_named(brim: Brim) -> None:
    plain = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    assert fit(brim, "--json", messages=plain).json["receipt"]["provider"] == "openai"
    assert (
        fit(brim, "--json", messages=plain, model="claude-sonnet-4-5").json["receipt"]["provider"]
        == "anthropic"
    )
    assert (
        fit(brim, "--json", "--provider", "anthropic", messages=plain).json["receipt"]["provider"]
        == "anthropic"
    )
    assert "rules of anthropic" in fit(brim, "--provider", "anthropic", messages=plain).err


def test_the_model_may_come_from_the_request_or_the_settings(brim: Brim) -> None:
    body = {"model": "gpt-4", "messages": AGENT}
    assert (
        brim("dev", "fit", "-", "--json", stdin=json.dumps(body)).json["receipt"]["model"]
        == "gpt-4"
    )
    found = brim("dev", "fit", "-", "--json", "-m", "gpt-4o", stdin=json.dumps(body))
    assert found.json["receipt"]["model"] == "gpt-4o"
    found = brim("dev", "fit", "-", "--json", stdin=json.dumps(AGENT), env={"BRIM_MODEL": "gpt-4o"})
    assert found.json["receipt"]["model"] == "gpt-4o"
    refused(brim("dev", "fit", "-", stdin=json.dumps(AGENT)), "--model")


def test_the_setting_for_how_to_count_is_followed(brim: Brim) -> None:
    brim.write("chat.json", json.dumps(AGENT))
    found = brim(
        "dev", "fit", "chat.json", "-m", "gpt-4o", "--json", env={"BRIM_MODE": "approximate"}
    ).json
    assert found["tokens"] == counter_for("gpt-4o", mode="approximate").count_messages(AGENT)
    refused(
        brim("dev", "fit", "chat.json", "-m", "claude-sonnet-4-5", env={"BRIM_MODE": "exact"}),
        "exact",
    )


# A whole request


def test_a_request_keeps_everything_but_the_messages_that_leave(brim: Brim) -> None:
    body = {"model": "gpt-4o", "temperature": 0.5, "messages": AGENT, "stream": True}
    ran = fit(brim, "--tokens", "400", messages=body)
    assert list(ran.json) == list(body)
    assert ran.json == {
        **body,
        "messages": TieredPruner().prune(AGENT, 400, model="gpt-4o").messages,
    }
    found = fit(brim, "--tokens", "400", "--json", messages=body).json
    assert found["messages"] == ran.json["messages"]


def test_a_requests_system_text_and_tools_count(brim: Brim) -> None:
    turns = [{"role": "user", "content": f"Question {n}?"} for n in range(20)]
    tools = [
        {
            "name": "search",
            "description": "Search. " * 20,
            "input_schema": {"type": "object", "properties": {}},
        }
    ]
    body = {"system": "You are careful. " * 20, "tools": tools, "messages": turns}
    whole = counter_for("claude-sonnet-4-5").count_messages(body)  # type: ignore[arg-type]
    found = fit(brim, "--json", messages=body, model="claude-sonnet-4-5").json
    assert found["receipt"]["provider"] == "anthropic"
    assert abs(found["tokens"] - whole) <= 2  # rounded message by message
    target = int(whole) - 40
    found = fit(
        brim, "--json", "--tokens", str(target), messages=body, model="claude-sonnet-4-5"
    ).json
    assert found["fits"]
    assert 0.6 * target < found["tokens"] <= target
    assert found["receipt"]["target"] == target
    assert found["receipt"]["before"]["tokens"] > target
    assert 0 < len(found["messages"]) < 20
    assert found["receipt"]["cache"]["prefix_tokens"] > 100


def test_a_system_text_larger_than_the_target_does_not_fit(brim: Brim) -> None:
    body = {"system": "You are careful. " * 100, "messages": [{"role": "user", "content": "Hi"}]}
    ran = fit(brim, "--tokens", "100", messages=body, model="claude-sonnet-4-5")
    assert (ran.code, ran.json) == (1, body)
    assert "outside the messages" in ran.err


def test_tools_of_the_option_and_of_the_request_do_not_mix(brim: Brim) -> None:
    brim.write("tools.json", json.dumps(TOOLS))
    refused(
        fit(brim, "--tools", "tools.json", messages={"messages": AGENT, "tools": TOOLS}), "--tools"
    )
    assert fit(brim, "--tools", "tools.json", messages={"messages": AGENT}).code == 0


@pytest.mark.parametrize(
    ("key", "items", "provider"),
    [
        ("input", [{"role": "user", "content": f"Question {n}?"} for n in range(9)], "responses"),
        (
            "contents",
            [{"role": "user", "parts": [{"text": f"Question {n}?"}]} for n in range(9)],
            "gemini",
        ),
    ],
)
def test_other_providers_requests_are_pruned_where_their_messages_are(
    brim: Brim, key: str, items: list[Any], provider: str
) -> None:
    ran = fit(brim, "--tokens", "40", messages={key: items, "store": False})
    assert ran.json["store"] is False
    assert 0 < len(ran.json[key]) < 9
    assert f"rules of {provider}" in ran.err


def test_a_request_with_a_text_for_messages_is_refused(brim: Brim) -> None:
    refused(fit(brim, messages={"input": "Hello"}), "input", "list", "a text")


# How it is laid out


def test_the_form_of_the_input_is_kept(brim: Brim) -> None:
    for text in (
        json.dumps(AGENT),
        json.dumps(AGENT, separators=(",", ":"), ensure_ascii=False),
        json.dumps(AGENT, indent=4, ensure_ascii=False),
        json.dumps(AGENT, indent="\t"),
        (EXAMPLES / "agent.json").read_text(encoding="utf-8").strip(),
        json.dumps({"messages": AGENT}, indent=1),
    ):
        assert brim("dev", "fit", "-", "-m", "gpt-4o", stdin=text).out == f"{text}\n"


def test_a_byte_order_mark_is_no_part_of_it(brim: Brim) -> None:
    assert brim("dev", "fit", "-", "-m", "gpt-4o", stdin=b"\xef\xbb\xbf[]").out == "[]\n"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1", "cp437"])
@pytest.mark.parametrize("form", [[], ["--json"]])
def test_every_character_comes_through(brim: Brim, encoding: str, form: list[str]) -> None:
    messages = [{"role": "user", "content": 'naïve ─ 上下文 😀 \ud800 \u2028 \x7f \\ "'}]
    brim.write("chat.json", json.dumps(messages))
    ran = brim("dev", "fit", "chat.json", "-m", "gpt-4o", *form, env={"PYTHONIOENCODING": encoding})
    assert ran.code == 0
    if encoding in ("utf-8", "ascii"):
        found = json.loads(ran.out)
        assert (found["messages"] if form else found) == messages


def test_json_is_one_object_with_every_field(brim: Brim) -> None:
    found = fit(brim, "--tokens", "400", "--json")
    assert found.err == ""
    assert list(found.json) == ["messages", "tokens", "fits", "receipt", "decisions"]
    receipt = found.json["receipt"]
    expected = TieredPruner().prune(AGENT, 400, model="gpt-4o").receipt
    for name in ("before", "after"):
        count = getattr(expected, name)
        facts = {
            "tokens": int(count),
            "basis": count.basis,
            "low": count.low,
            "high": count.high,
            "note": count.note,
        }
        assert receipt[name] == facts
    for name in ("pruner", "provider", "model", "target", "fits", "reason", "over_by"):
        assert receipt[name] == getattr(expected, name)
    assert receipt["notes"] == list(expected.notes)
    assert [unit["indices"] for unit in receipt["dropped"]] == [
        list(unit.indices) for unit in expected.dropped
    ]
    assert receipt["dropped"][0].keys() == {"indices", "kind", "tokens", "reason"}
    assert expected.cache is not None
    assert receipt["cache"]["rewrite_cost"] == expected.cache.rewrite_cost
    assert receipt["cache"]["pays_after"] == expected.cache.pays_after
    assert found.json["decisions"] is None


def test_the_receipt_is_an_aligned_table_on_standard_error(brim: Brim) -> None:
    lines = fit(brim, "--tokens", "400").err.splitlines()
    assert lines[0] == "tiered for gpt-4o, by the rules of openai"
    rows = [line for line in lines[1:] if not line.startswith("brim: ")]
    assert [row.split()[0] for row in rows] == [
        "before", "after", "target", "dropped", "dropped", "cached", "rewritten", "saved",
    ]  # fmt: skip
    words = [row[: row.index("  ", 14)] if "  " in row[14:] else row for row in rows]
    assert len({len(word.rstrip()) for word in words[:2]}) == 1
    assert "1 user message: it does not fit" in rows[3]
    assert "1 step of 3 messages: it does not fit" in rows[4]
    assert "$" in rows[6]
    assert "--tokens" in rows[2]


def test_a_model_without_a_price_shows_tokens_alone(brim: Brim) -> None:
    ran = fit(brim, "--tokens", "400", model="nobody-knows-me")
    assert "rewritten" in ran.err
    assert "$" not in ran.err
    assert "guess" in ran.err


# The target


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4", "claude-sonnet-4-5"])
def test_without_a_target_it_is_what_the_window_leaves(brim: Brim, model: str) -> None:
    messages = [{"role": "user", "content": "Hi"}]
    window = lookup(model).context_window
    expected = window - Reserves().response(window) - Reserves().safety(window)
    assert fit(brim, "--json", messages=messages, model=model).json["receipt"]["target"] == expected
    ran = fit(brim, messages=messages, model=model)
    assert f"{model}'s window of {window:,} less" in ran.err


def test_without_a_target_a_model_gets_no_more_input_than_it_takes(brim: Brim) -> None:
    known = lookup("gpt-5")
    assert known.max_input < known.context_window * 0.9
    assert fit(brim, "--json", model="gpt-5").json["receipt"]["target"] == known.max_input
    assert "most input" in fit(brim, model="gpt-5").err


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_target_of_nothing_leaves_the_smallest_and_ends_with_1(
    brim: Brim, form: list[str]
) -> None:
    ran = fit(brim, "--tokens", "0", *form)
    assert ran.code == 1
    messages = ran.json["messages"] if form else ran.json
    assert messages == [AGENT[0], AGENT[-1]]
    if form:
        assert ran.json["fits"] is False
        assert ran.json["receipt"]["over_by"] == ran.json["tokens"]
        assert ran.json["receipt"]["reason"]
    else:
        assert "too many" in ran.err


@pytest.mark.parametrize("target", ["-1", "many", "1.5", "", "1e3"])
def test_a_target_that_is_no_number_of_tokens_is_wrong_usage(brim: Brim, target: str) -> None:
    refused(fit(brim, f"--tokens={target}"), "--tokens")


def test_one_message_larger_than_the_window_ends_with_1(brim: Brim) -> None:
    messages = [{"role": "user", "content": "word " * 20_000}]
    ran = fit(brim, messages=messages, model="gpt-4")
    assert (ran.code, ran.json) == (1, messages)
    assert "too many" in ran.err


def test_no_messages_fit(brim: Brim) -> None:
    assert fit(brim, messages=[]).json == []


# Options that do not belong to the strategy


@pytest.mark.parametrize(
    ("strategy", "option", "value"),
    [
        ("fifo", "--turns", "3"),
        ("fifo", "--min-turns", "3"),
        ("fifo", "--high", "0.9"),
        ("fifo", "--low", "auto"),
        ("fifo", "--decisions", "d.json"),
        ("fifo", "--cap", "100"),
        ("sliding", "--min-turns", "3"),
        ("sliding", "--cap", "100"),
        ("summarize", "--turns", "3"),
        ("summarize", "--decisions", "d.json"),
        ("watermark", "--turns", "3"),
        ("watermark", "--cap", "100"),
        ("cap", "--low", "0.5"),
        ("cap", "--min-turns", "0"),
    ],
)
def test_an_option_of_another_strategy_is_refused(
    brim: Brim, strategy: str, option: str, value: str
) -> None:
    ran = fit(brim, "--strategy", strategy, option, value)
    refused(ran, option, "belongs to --strategy", f"not to {strategy}")
    assert not (brim.cwd / "d.json").exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--strategy", "newest"],
        ["--strategy", "sliding", "--turns", "0"],
        ["--strategy", "sliding", "--turns", "x"],
        ["--strategy", "summarize", "--min-turns", "-1"],
        ["--strategy", "watermark", "--high", "2"],
        ["--strategy", "watermark", "--high", "nan"],
        ["--strategy", "watermark", "--high", "x"],
        ["--strategy", "watermark", "--low", "0"],
        ["--strategy", "watermark", "--low", "1"],
        ["--strategy", "watermark", "--low", "low"],
        ["--strategy", "watermark", "--high", "0.5", "--low", "0.6"],
        ["--strategy", "cap", "--cap", "0"],
        ["--strategy", "cap", "--cap", "1"],
        ["--provider", "nobody"],
        ["--tokens"],
        ["--pin"],
        ["more.json"],
    ],
    ids=" ".join,
)
def test_wrong_usage_ends_with_2(brim: Brim, options: list[str]) -> None:
    refused(fit(brim, *options), "brim")


# Decisions


def watermark(brim: Brim, messages: list[Any], *options: str) -> Ran:
    return fit(
        brim,
        "--tokens",
        "400",
        "--strategy",
        "watermark",
        "--decisions",
        "d.json",
        *options,
        messages=messages,
    )


def test_decisions_are_written_and_kept_to(brim: Brim) -> None:
    first = watermark(brim, AGENT, "--json").json
    stored = Decisions.from_json((brim.cwd / "d.json").read_text())
    assert stored.cut > 0
    assert first["decisions"] == json.loads(stored.to_json())
    longer = [
        *AGENT,
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thanks."},
    ]
    second = watermark(brim, longer).json
    assert second == first["messages"] + longer[-2:]
    assert Decisions.from_json((brim.cwd / "d.json").read_text()) == stored
    pruner = WatermarkPruner(decisions=stored)
    assert second == pruner.prune(longer, 400, model="gpt-4o").messages


def test_decisions_are_written_even_if_nothing_was_decided(brim: Brim) -> None:
    assert fit(brim, "--strategy", "watermark", "--decisions", "d.json").code == 0
    assert Decisions.from_json((brim.cwd / "d.json").read_text()) == Decisions()


def test_a_new_file_of_decisions_is_for_its_owner_alone(brim: Brim) -> None:
    watermark(brim, AGENT)
    assert [path.name for path in brim.cwd.iterdir() if "d.json" in path.name] == ["d.json"]
    if sys.platform != "win32":
        assert (brim.cwd / "d.json").stat().st_mode & 0o777 == 0o600


def test_decisions_of_another_history_are_begun_anew(brim: Brim) -> None:
    watermark(brim, AGENT)
    ran = watermark(brim, [{"role": "user", "content": f"Question {n}?"} for n in range(100)])
    assert ran.code == 0
    assert "another transcript" in ran.err


@pytest.mark.parametrize(
    "content", ["{}", "[]", "not json", '{"version": 99}', "null", b"\0", b"\xff"]
)
def test_a_file_that_holds_no_decisions_is_refused_and_left_alone(
    brim: Brim, content: str | bytes
) -> None:
    path = brim.write("d.json", content)
    before = path.read_bytes()
    refused(watermark(brim, AGENT), "d.json")
    assert path.read_bytes() == before


def test_an_empty_file_holds_no_decisions_yet(brim: Brim) -> None:
    path = brim.write("d.json", "")
    assert watermark(brim, AGENT).code == 0
    assert json.loads(path.read_text())["version"] == 1


@pytest.mark.parametrize("path", [".", "missing/d.json", ""])
def test_decisions_that_cannot_be_written_are_an_error(brim: Brim, path: str) -> None:
    ran = fit(brim, "--strategy", "watermark", "--decisions", path)
    assert ran.code == 2
    assert ran.err.splitlines()[-1].startswith("brim: ")


# Input that cannot be read


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ["chat.json:1:1", "not JSON"]),
        ("not json", ["chat.json:1:1", "not JSON"]),
        ('[{"role": "user"', ["chat.json:1:17", "not JSON"]),
        ('{"role": "user", "content": "Hi"}', ["list", "an object"]),
        ('"Hi"', ["list", "a text"]),
        ("5", ["list", "a number"]),
        ("null", ["list", "null"]),
        ('{"messages": null}', ["list"]),
        ('{"messages": {}}', ["messages", "an object"]),
        ('[{"role": "user", "content": NaN}]', ["not JSON", "NaN"]),
        ('[{"role": "user", "content": -Infinity}]', ["not JSON", "-Infinity"]),
        ('[{"role": "user", "content": 1e999}]', ["not JSON", "1e999"]),
        ("[" * 100_000 + "]" * 100_000, ["nested too deeply"]),
        (b"\x89PNG\r\n", ["not UTF-8"]),
        (b"[]\0", ["binary"]),
    ],
)
def test_input_that_is_no_history_is_refused(
    brim: Brim, content: str | bytes, words: list[str]
) -> None:
    brim.write("chat.json", content)
    ran = brim("dev", "fit", "chat.json", "-m", "gpt-4o")
    refused(ran, "chat.json", *words)
    assert ran.err.count("\n") == 1


def test_what_is_no_file_is_refused(brim: Brim) -> None:
    refused(brim("dev", "fit", "missing.json", "-m", "gpt-4o"), "missing.json")
    refused(brim("dev", "fit", ".", "-m", "gpt-4o"), "directory")
    refused(brim("dev", "fit", "-m", "gpt-4o"), "FILE")
    refused(fit(brim, "--tools", "missing.json"), "missing.json")
    brim.write("tools.json", "{}")
    refused(fit(brim, "--tools", "tools.json"), "tools.json", "list")


def test_a_transcript_is_refused(brim: Brim) -> None:
    brim.write("session.jsonl", (EXAMPLES / "session.jsonl").read_bytes())
    refused(brim("dev", "fit", "session.jsonl", "-m", "gpt-4o"), "transcript", "brim dev check")


@pytest.mark.parametrize("depth", [100, 300, 900, 1_500])
def test_deep_nesting_is_fitted_or_refused(brim: Brim, depth: int) -> None:
    text = '[{"role": "user", "content": "Hi", "extra": ' + "[" * depth + "]" * depth + "}]"
    for form in ([], ["--json"]):
        ran = brim("dev", "fit", "-", "-m", "gpt-4o", *form, stdin=text)
        assert ran.code in (0, 2)
        assert ran.code == 0 or "nested" in ran.err


@pytest.mark.parametrize(
    "messages",
    [
        [1, None, "x", [], {}],
        [{"role": "wizard", "content": "Hi"}],
        [{"role": 5, "content": {"a": 1}}],
        [{"role": "user", "content": None}, {"role": "user", "content": "Hi"}],
    ],
)
def test_what_is_no_message_is_refused_in_one_line(brim: Brim, messages: list[Any]) -> None:
    ran = fit(brim, messages=messages)
    assert (ran.code, ran.out) == (2, "")
    assert re.fullmatch(r"brim: messages\[0\].*\n", ran.err)


def test_a_result_that_answers_nothing_leaves_with_a_reason(brim: Brim) -> None:
    orphan = {"role": "tool", "tool_call_id": "call_1", "content": "nobody asked"}
    ran = fit(brim, messages=[orphan, {"role": "user", "content": "Hi"}])
    assert (ran.code, ran.json) == (0, [{"role": "user", "content": "Hi"}])
    assert "broken" in ran.err


@posix
def test_a_closed_standard_error_loses_only_the_receipt(brim: Brim) -> None:
    brim.write("chat.json", json.dumps(AGENT))
    ran = brim.shell('"$BRIM" dev fit chat.json -m gpt-4o --tokens 400 2>&-')
    assert (ran.code, ran.json) == (0, TieredPruner().prune(AGENT, 400, model="gpt-4o").messages)
    assert brim.shell('"$BRIM" dev fit chat.json -m gpt-4o --tokens 0 >&-').code == 1


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device here")
def test_a_full_disk_is_one_line(brim: Brim) -> None:
    brim.write("chat.json", json.dumps(AGENT))
    ran = brim.shell('"$BRIM" dev fit chat.json -m gpt-4o --tokens 400 > /dev/full')
    assert ran.code == 2
    assert "space" in ran.err.lower()


@posix
def test_decisions_may_be_a_link(brim: Brim) -> None:
    (brim.cwd / "real").mkdir()
    os.symlink("real/d.json", brim.cwd / "d.json")
    watermark(brim, AGENT)
    assert (brim.cwd / "d.json").is_symlink()
    assert Decisions.from_json((brim.cwd / "real" / "d.json").read_text()).cut > 0
