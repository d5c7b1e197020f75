"""What a file may hold, and what an error says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from brim.config import load
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
        ("tiers:\n  zzz: 5\n", "{path}:2: unknown key tiers.zzz; there are tiers.full, tiers.summary, tiers.name_only"),
        ("zzz: 5\n", "{path}:1: unknown key zzz; there are model, mode, models, token_budget, session, tiers, "),
        ("session.backoff: 5\n", "{path}:1: write session.backoff as backoff: in a section session:"),
        ("session: 5\n", "{path}:1: session must be a section of settings, not 5"),
        ("session: {backoff: {x: 1}}\n", "{path}:1: session.backoff must be a whole number, not {{'x': 1}}"),
        ("\n\ntoken_budget: {default: 2k}\n", "{path}:3: token_budget.default must be a whole number, not '2k'"),
        ("token_budget:\n  default: -1\n", "{path}:2: token_budget.default must be 0 or more, not -1"),
        ("token_budget:\n  default: 1.5\n", "{path}:2: token_budget.default must be a whole number, not 1.5"),
        ("token_budget:\n  default: yes\n", "{path}:2: token_budget.default must be a whole number, not True"),
        ("session:\n  backoff:\n", "{path}:2: session.backoff must be a whole number, not None"),
        ("injection:\n  fill: 1\n", "{path}:2: injection.fill must be true or false, not 1"),
        (
            "injection:\n  strategy: best\n",
            "{path}:2: injection.strategy must be one of lowest-first, level, optimal, not",
        ),
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
        (b"model: a\0b\n", "{path}: not valid YAML"),
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


@pytest.mark.parametrize("content", ["", "\n\n", "# nothing\n", "---\n", "\ufeffmode: auto\n", "mode: auto\r\n"])
def test_a_file_that_sets_nothing_unusual_is_fine(places: Places, content: str) -> None:
    places.write(places.project, content)
    assert load(places.environ, str(places.inside))["mode"] == "auto"


def test_a_file_too_large_for_a_configuration_is_refused(places: Places) -> None:
    places.write(places.project, "# " + "x" * 1_000_000 + "\n")
    with pytest.raises(ConfigError, match="larger than 1,000,000 bytes"):
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


@pytest.mark.parametrize("content", ["token_budget:\n", "token_budget:\n  # default: 5\n", "token_budget: {}\n"])
def test_a_section_with_nothing_in_it_sets_nothing(places: Places, content: str) -> None:
    places.write(places.project, content)
    assert load(places.environ, str(places.inside)).values["token_budget.default"] == (2_000, "default")


def test_numbers_are_written_as_yaml_writes_them(places: Places) -> None:
    path = places.write(places.project, "token_budget:\n  default: 3_000\ntiers: {full: 1}\n")
    config = load(places.environ, str(places.inside))
    assert config.values["token_budget.default"] == (3_000, f"{path}:2")
    assert config.values["tiers.full"] == (1.0, f"{path}:3")
    assert type(config["tiers.full"]) is float


@pytest.mark.parametrize("word", ["null", "~", "", "unlimited"])
def test_null_lifts_a_limit_of_a_weaker_source(places: Places, word: str) -> None:
    places.write(places.home, "token_budget:\n  default: 7\n")
    path = places.write(places.project, f"token_budget:\n  default: {word}\n")
    assert load(places.environ, str(places.inside)).values["token_budget.default"] == (None, f"{path}:2")


def test_what_a_merge_brings_is_read(places: Places) -> None:
    path = places.write(places.project, "session:\n  <<: {backoff: 9}\n  max_tokens: 5\n")
    config = load(places.environ, str(places.inside))
    assert config.values["session.backoff"] == (9, f"{path}:1")
    assert config.values["session.max_tokens"] == (5, f"{path}:3")
