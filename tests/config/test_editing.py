"""One key changes, and every other character stays as it was."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from brim._yaml import read_mapping
from brim.config.editing import with_key, without_key
from brim.errors import ConfigError

FILE = """\
# Ours. Ask before you change it.

model: gpt-4o            # what we all use

token_budget:
  # a large window
  default: 3_000  # tokens
  dynamic_context: 800

# the end
models:
  mine:
    like: gpt-4o
# really
"""


@pytest.mark.parametrize(
    ("before", "key", "value", "after"),
    [
        ("", "mode", "exact", "mode: exact\n"),
        ("", "tiers.full", 0.8, "tiers:\n  full: 0.8\n"),
        ("# hello", "mode", "exact", "# hello\nmode: exact\n"),
        ("---\n", "mode", "exact", "---\nmode: exact\n"),
        ("mode: auto", "mode", "exact", "mode: exact"),
        ("mode: auto", "model", "x", "mode: auto\nmodel: x\n"),
        ("mode:   auto   # why\n", "mode", "exact", "mode:   exact   # why\n"),
        ("model:\n", "model", "x", "model: x\n"),
        ("model: # none\n", "model", "x", "model: x # none\n"),
        ("model: 'a b'\nmode: auto\n", "model", "c", "model: c\nmode: auto\n"),
        ("model: |\n  a\n  b\nmode: auto\n", "model", "c", "model: c\nmode: auto\n"),
        ("model: x\n", "model", None, "model: null\n"),
        ("model: x\n", "model", "5", "model: '5'\n"),
        ("model: x\n", "model", "a: b # c", "model: 'a: b # c'\n"),
        ("model: x\n", "model", "a\n\x85b", 'model: "a\\n\\Nb"\n'),
        ("tiers:\n", "tiers.full", 0.8, "tiers:\n  full: 0.8\n"),
        ("tiers:\n  # full: 0.7\n", "tiers.full", 0.8, "tiers:\n  full: 0.8\n  # full: 0.7\n"),
        ("tiers:\n    summary: 0.2\n", "tiers.full", 0.8, "tiers:\n    summary: 0.2\n    full: 0.8\n"),
        ("tiers:\n  summary: 0.2", "tiers.full", 0.8, "tiers:\n  summary: 0.2\n  full: 0.8\n"),
        ("tiers: {summary: 0.2}\n", "tiers.full", 0.8, "tiers: {summary: 0.2, full: 0.8}\n"),
        ("tiers: {}\n", "tiers.full", 0.8, "tiers: {full: 0.8}\n"),
        ("{mode: auto}\n", "tiers.full", 0.8, "{mode: auto, tiers: {full: 0.8}}\n"),
        ("{mode: auto}\n", "mode", "exact", "{mode: exact}\n"),
        ("mode: auto\r\ntiers:\r\n  full: 0.9\r\n", "tiers.summary", 0.2, None),
        ("\ufeffmode: auto\n", "mode", "exact", "\ufeffmode: exact\n"),
        ("model: ünï # 上下文\nmode: auto\n", "mode", "exact", "model: ünï # 上下文\nmode: exact\n"),
        ("tiers: {full: 0.9}\n", "tiers.full", 0.00001, "tiers: {full: 1.0e-05}\n"),
        ("injection: {fill: no}\n", "injection.fill", True, "injection: {fill: true}\n"),
        ("tiers:\n  <<: {full: 0.9}\n", "tiers.full", 0.8, "tiers:\n  <<: {full: 0.9}\n  full: 0.8\n"),
    ],
)
def test_a_key_is_set_in_its_place(before: str, key: str, value: object, after: str | None) -> None:
    if after is None:
        after = before + f"  {key.partition('.')[2]}: {value}\r\n"
    assert with_key(before, key, value, "file") == after


def test_comments_and_order_stay() -> None:
    assert with_key(FILE, "token_budget.default", 5, "file") == FILE.replace("3_000", "5")
    assert with_key(FILE, "model", "gpt-5", "file") == FILE.replace("gpt-4o   ", "gpt-5   ")
    assert with_key(FILE, "mode", "exact", "file") == FILE + "mode: exact\n"


@pytest.mark.parametrize(
    ("before", "key", "after"),
    [
        ("mode: auto\nmodel: x\n", "mode", "model: x\n"),
        ("# a\nmode: auto # b\n# c\n", "mode", "# a\n# c\n"),
        ("mode: auto", "mode", ""),
        ("model:\nmode: auto\n", "model", "mode: auto\n"),
        ("tiers:\n  full: 0.9\nmode: auto\n", "tiers.full", "mode: auto\n"),
        ("tiers: # ours\n  full: 0.9\nmode: auto\n", "tiers.full", "tiers: # ours\nmode: auto\n"),
        ("tiers:\n  # why\n  full: 0.9\nmode: auto\n", "tiers.full", "  # why\nmode: auto\n"),
        ("tiers:\n  full: 0.9\n  summary: 0.2\n", "tiers.full", "tiers:\n  summary: 0.2\n"),
        ("tiers: {full: 0.9, summary: 0.2}\n", "tiers.full", "tiers: {summary: 0.2}\n"),
        ("tiers: {full: 0.9, summary: 0.2}\n", "tiers.summary", "tiers: {full: 0.9}\n"),
        ("tiers: {full: 0.9}\n", "tiers.full", "tiers: {}\n"),
        ("{mode: auto, model: x}", "mode", "{model: x}"),
        ("models:\n  a:\n    like: b\nmode: auto\n", "models", "mode: auto\n"),
        ("model: |\n  a\n\nmode: auto\n", "model", "mode: auto\n"),
        ("mode: auto\n", "model", "mode: auto\n"),
        ("nonsense: 1\nmode: auto\n", "nonsense", "mode: auto\n"),
        ("", "mode", ""),
    ],
)
def test_a_key_is_taken_out(before: str, key: str, after: str) -> None:
    assert without_key(before, key, "file") == after


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("session: {backoff: &n 5, max_tokens: *n}\n", "session.backoff"),
        ("session: {backoff: &n 5, max_tokens: *n}\n", "session.max_tokens"),
        ("mode: auto\n...\n", "model"),
        ("tiers: ~\n", "tiers.full"),
    ],
)
def test_what_cannot_be_changed_alone_is_refused(text: str, key: str) -> None:
    with pytest.raises(ConfigError, match=f"file: cannot set {key} without touching something else"):
        with_key(text, key, 7, "file")


@pytest.mark.parametrize("text", ["mode: [auto\n", "- x\n", "mode: a\nmode: b\n"])
def test_a_broken_file_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="file:"):
        with_key(text, "mode", "auto", "file")
    with pytest.raises(ConfigError, match="file:"):
        without_key(text, "mode", "file")


KEYS = ("mode", "model", "tiers.full", "tiers.summary", "session.backoff", "session.max_tokens")
VALUES = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)


@st.composite
def files(draw: st.DrawFn) -> str:
    """A file as people write them: comments, blank lines, both styles, both line ends."""
    lines = []
    tree: dict[str, Any] = {}
    for key in draw(st.lists(st.sampled_from(KEYS), unique=True)):
        section, _, name = key.rpartition(".")
        (tree.setdefault(section, {}) if section else tree)[name] = draw(VALUES)
    for name, value in tree.items():
        style = None if isinstance(value, dict) and draw(st.booleans()) else False
        lines += yaml.safe_dump({name: value}, default_flow_style=style, allow_unicode=True).split("\n")[:-1]
        lines += draw(st.lists(st.sampled_from(["", "# a comment", "  # mode: auto"]), max_size=2))
    end = draw(st.sampled_from(["\n", "\r\n"]))
    return end.join(lines) + draw(st.sampled_from(["", end]))


def comments(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip().startswith("#")]


def leaves(text: str) -> dict[str, Any]:
    found = {}
    for key, value in read_mapping(text, "file")[0].items():
        if isinstance(value, dict):
            found.update({f"{key}.{name}": inner for name, inner in value.items()})
        elif value is not None or key in KEYS:
            found[key] = value
    return found


@given(files(), st.sampled_from(KEYS), VALUES)
def test_setting_changes_one_key_and_no_comment(text: str, key: str, value: object) -> None:
    after = with_key(text, key, value, "file")
    assert leaves(after) == {**leaves(text), key: value}
    assert comments(after) == comments(text)
    assert with_key(after, key, value, "file") == after


@given(files(), st.sampled_from(KEYS))
def test_taking_out_changes_one_key_and_no_comment(text: str, key: str) -> None:
    after = without_key(text, key, "file")
    assert leaves(after) == {name: value for name, value in leaves(text).items() if name != key}
    assert comments(after) == comments(text)
