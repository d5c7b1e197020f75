"""What a file may hold, and what an error says."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from brim.config import load
from brim.config.text import read_mapping, with_key, without_key
from brim.errors import ConfigError
from tests.config.places import Places


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("mode: auto\nmodle: x\n", "{path}:2: unknown key modle; did you mean mode or model?"),
        (
            "token_budget:\n  defualt: 5\n",
            "{path}:2: unknown key token_budget.defualt; did you mean token_budget.default?",
        ),
        ("budget:\n  dynamic_context: 5\n", "{path}:1: unknown key budget; "),
        ("max_chars: 5\n", "{path}:1: unknown key max_chars; did you mean injection.max_chars?"),
        (
            "tiers:\n  zzz: 5\n",
            "{path}:2: unknown key tiers.zzz; there are tiers.full, tiers.summary, tiers.name_only",
        ),
        (
            "zzz: 5\n",
            "{path}:1: unknown key zzz; there are model, mode, models, limits, notify, token_budget, session, tiers, ",
        ),
        (
            "session.backoff: 5\n",
            "{path}:1: write session.backoff as backoff: in a section session:",
        ),
        ("session: 5\n", "{path}:1: session must be a section of settings, not 5"),
        (
            "session: {backoff: {x: 1}}\n",
            "{path}:1: session.backoff must be a whole number, not {{'x': 1}}",
        ),
        (
            "\n\ntoken_budget: {default: 2k}\n",
            "{path}:3: token_budget.default must be a whole number, not '2k'",
        ),
        (
            "token_budget:\n  default: -1\n",
            "{path}:2: token_budget.default must be 0 or more, not -1",
        ),
        (
            "token_budget:\n  default: 1.5\n",
            "{path}:2: token_budget.default must be a whole number, not 1.5",
        ),
        (
            "token_budget:\n  default: yes\n",
            "{path}:2: token_budget.default must be a whole number, not True",
        ),
        ("session:\n  backoff:\n", "{path}:2: session.backoff must be a whole number, not None"),
        ("injection:\n  fill: 1\n", "{path}:2: injection.fill must be true or false, not 1"),
        ("tiers:\n  full: 1.2\n", "{path}:2: tiers.full must be from 0 to 1, not 1.2"),
        ("tiers:\n  full: .nan\n", "{path}:2: tiers.full must be a number, not nan"),
        ("tiers:\n  full: 0.2\n", "{path}:2: tiers.full (0.2) is less than tiers.summary (0.3)"),
        ("<<: {mode: fast}\n", "{path}:1: mode must be one of"),
        ("mode: fast\n", "{path}:1: mode must be one of auto, approximate, exact, api, not 'fast'"),
        ("mode: no\n", "{path}:1: mode must be a text, not False"),
        ("model: ''\n", "{path}:1: model must be a text, not ''"),
        ("models: []\n", "{path}:1: models must be a mapping, not []"),
        ("- x\n", "{path}:1: must be a mapping"),
        ("just a text\n", "{path}:1: must be a mapping"),
        ("mode: auto\nmode: exact\n", "{path}:2: mode is set twice"),
        ("models:\n  a: {like: x, like: y}\n", "{path}:2: models.a.like is set twice"),
        ("1: x\n", "{path}:1: a key must be a text"),
        ("? [a, b]\n: x\n", "{path}:1: a key must be a text"),
        ("mode: [auto\n", "{path}:2: not valid YAML"),
        ("mode: *nothing\n", "{path}:1: not valid YAML"),
        ("mode: !!python/object/apply:os.system [ls]\n", "{path}:1: not valid YAML"),
        ("mode: auto\n---\nmode: exact\n", "{path}:2: not valid YAML"),
        ("model: 2026-99-99\n", "{path}"),
        (b"model: caf\xe9\n", "{path}: not UTF-8 text"),
        (b"model: a\0b\n", "{path}:1: not valid YAML"),
    ],
)
def test_an_error_says_where_and_what(places: Places, content: str | bytes, message: str) -> None:
    path = places.write(places.project, content)
    with pytest.raises(ConfigError) as caught:
        load(places.environ, str(places.inside))
    assert str(caught.value).startswith("config: " + message.format(path=path))
    assert "\n" not in str(caught.value)


def test_a_wrong_variable_is_an_error_that_names_it(places: Places) -> None:
    with pytest.raises(ConfigError, match="BRIM_MODE: mode must be one of"):
        load({**places.environ, "BRIM_MODE": "fast"}, str(places.inside))


@pytest.mark.parametrize(
    "content", ["", "\n\n", "# nothing\n", "---\n", "\ufeffmode: auto\n", "mode: auto\r\n"]
)
def test_a_file_that_sets_nothing_unusual_is_fine(places: Places, content: str) -> None:
    places.write(places.project, content)
    assert load(places.environ, str(places.inside))["mode"] == "auto"


def test_a_file_too_large_for_a_configuration_is_refused(places: Places) -> None:
    places.write(places.project, "# " + "x" * 65_536 + "\n")
    with pytest.raises(ConfigError, match="larger than 65,536 bytes"):
        load(places.environ, str(places.inside))


@pytest.mark.parametrize("kind", ["pipe", "endless"])
def test_what_is_no_regular_file_is_not_waited_for(places: Places, kind: str) -> None:
    """A link to such a thing can come with a clone."""
    path = Path(places.write(places.project, ""))
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    with pytest.raises(ConfigError, match="not a regular file"):
        load(places.environ, str(places.inside))


def test_a_folder_is_no_configuration(places: Places) -> None:
    (places.project / ".brim" / "config.yaml").mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"config\.yaml: "):
        load(places.environ, str(places.inside))


@pytest.mark.parametrize(
    "content", ["token_budget:\n", "token_budget:\n  # default: 5\n", "token_budget: {}\n"]
)
def test_a_section_with_nothing_in_it_sets_nothing(places: Places, content: str) -> None:
    places.write(places.project, content)
    assert load(places.environ, str(places.inside)).values["token_budget.default"] == (
        2_000,
        "default",
    )


def test_numbers_are_written_as_yaml_writes_them(places: Places) -> None:
    path = places.write(places.home, "token_budget:\n  default: 3_000\ntiers: {full: 1}\n")
    config = load(places.environ, str(places.inside))
    assert config.values["token_budget.default"] == (3_000, f"{path}:2")
    assert config.values["tiers.full"] == (1.0, f"{path}:3")
    assert type(config["tiers.full"]) is float


@pytest.mark.parametrize("word", ["null", "~", "", "unlimited"])
def test_null_lifts_a_limit(places: Places, word: str) -> None:
    path = places.write(places.home, f"token_budget:\n  default: {word}\n")
    assert load(places.environ, str(places.inside)).values["token_budget.default"] == (
        None,
        f"{path}:2",
    )


def test_what_a_merge_brings_is_read(places: Places) -> None:
    path = places.write(places.home, "session:\n  <<: {backoff: 9}\n  max_tokens: 5\n")
    config = load(places.environ, str(places.inside))
    assert config.values["session.backoff"] == (9, f"{path}:1")
    assert config.values["session.max_tokens"] == (5, f"{path}:3")


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
        (
            "tiers:\n    summary: 0.2\n",
            "tiers.full",
            0.8,
            "tiers:\n    summary: 0.2\n    full: 0.8\n",
        ),
        ("tiers:\n  summary: 0.2", "tiers.full", 0.8, "tiers:\n  summary: 0.2\n  full: 0.8\n"),
        ("{mode: auto}\n", "mode", "exact", "{mode: exact}\n"),
        ("mode: auto\r\ntiers:\r\n  full: 0.9\r\n", "tiers.summary", 0.2, None),
        ("\ufeffmode: auto\n", "mode", "exact", "\ufeffmode: exact\n"),
        (
            "model: ünï # 上下文\nmode: auto\n",
            "mode",
            "exact",
            "model: ünï # 上下文\nmode: exact\n",
        ),
        ("tiers: {full: 0.9}\n", "tiers.full", 0.00001, "tiers: {full: 1.0e-05}\n"),
        ("injection: {fill: no}\n", "injection.fill", True, "injection: {fill: true}\n"),
        (
            "tiers:\n  <<: {full: 0.9}\n",
            "tiers.full",
            0.8,
            "tiers:\n  <<: {full: 0.9}\n  full: 0.8\n",
        ),
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
        ("tiers: {summary: 0.2}\n", "tiers.full"),
        ("{mode: auto}\n", "tiers.full"),
    ],
)
def test_what_cannot_be_changed_alone_is_refused(text: str, key: str) -> None:
    with pytest.raises(
        ConfigError, match=f"file: cannot set {key} without touching something else"
    ):
        with_key(text, key, 7, "file")


@pytest.mark.parametrize("text", ["mode: [auto\n", "- x\n", "mode: a\nmode: b\n"])
def test_a_broken_file_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="file:"):
        with_key(text, "mode", "auto", "file")
    with pytest.raises(ConfigError, match="file:"):
        without_key(text, "mode", "file")


KEYS = ("mode", "model", "tiers.full", "tiers.summary", "session.backoff", "session.max_tokens")
VALUES = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20)
)


@st.composite
def files(draw: st.DrawFn) -> str:
    """A file as people write them: comments, blank lines, both line ends."""
    lines = []
    tree: dict[str, Any] = {}
    for key in draw(st.lists(st.sampled_from(KEYS), unique=True)):
        section, _, name = key.rpartition(".")
        (tree.setdefault(section, {}) if section else tree)[name] = draw(VALUES)
    for name, value in tree.items():
        lines += yaml.safe_dump({name: value}, default_flow_style=False, allow_unicode=True).split(
            "\n"
        )[:-1]
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
