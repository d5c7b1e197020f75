"""Which value wins, where it was set, and what is said when one is wrong."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from brim.config import SETTINGS, Setting, load, load_cached
from brim.errors import ConfigError, InputError
from tests.config.places import Places


def test_nothing_set_is_every_default(places: Places) -> None:
    config = load(places.environ, str(places.inside))
    assert {key: value.origin for key, value in config.values.items()} == {
        each.key: "default" for each in SETTINGS
    }
    assert (config["model"], config["mode"], config["models"]) == (None, "auto", {})


def test_each_source_is_stronger_than_the_next(places: Places) -> None:
    flags: dict[str, object] = {}
    environ = dict(places.environ)

    def found() -> tuple[object, str]:
        return load(environ, str(places.inside), flags).values["mode"]

    user = places.write(places.home, "mode: exact\n")
    assert found() == ("exact", f"{user}:1")
    project = places.write(places.project, "\nmode: approximate\n")
    assert found() == ("approximate", f"{project}:2")
    environ["BRIM_MODE"] = "api"
    assert found() == ("api", "BRIM_MODE")
    flags["mode"] = None
    assert found() == ("api", "BRIM_MODE")
    flags["mode"] = "auto"
    assert found() == ("auto", "--mode")


def test_each_file_may_name_models_and_the_stronger_has_a_model_whole(places: Places) -> None:
    places.write(
        places.home, "models:\n  a: {context_window: 1, max_output: 1}\n  b: {context_window: 2}\n"
    )
    places.write(places.project, "models:\n  a: {context_window: 3}\n")
    assert load(places.environ, str(places.inside))["models"] == {
        "a": {"context_window": 3},
        "b": {"context_window": 2},
    }


def test_one_model_in_two_spellings_is_the_stronger_files(places: Places) -> None:
    from brim.models import model, use

    places.write(places.home, "models:\n  GPT-4o: {context_window: 1000}\n")
    places.write(places.project, "models:\n  gpt-4o: {context_window: 2000}\n")
    try:
        use(load(places.environ, str(places.inside))["models"])
        assert model("gpt-4o").context_window == 2_000
    finally:
        use({})


def test_where_names_the_line_of_a_key_or_of_the_nearest_above_it(places: Places) -> None:
    path = places.write(places.project, "mode: auto\nmodels:\n  gpt-4.1:\n    context_window: 5\n")
    config = load(places.environ, str(places.inside))
    assert config.where("models.gpt-4.1.context_window") == f"{path}:4"
    assert config.where("models.gpt-4.1.like") == f"{path}:3"
    assert config.where("models.other") == f"{path}:2"
    assert config.where("model") == ""


def test_loading_changes_no_default(places: Places) -> None:
    places.write(places.project, "models:\n  mine: {context_window: 5}\n")
    load(places.environ, str(places.inside))
    assert load(places.environ, str(places.home))["models"] == {}


def test_a_section_is_given_by_its_names(places: Places) -> None:
    assert load({**places.environ, "BRIM_TIERS_FULL": "0.9"}, None).section("tiers") == {
        "full": 0.9,
        "summary": 0.3,
        "name_only": 0.1,
    }


def test_without_a_folder_there_is_no_project(places: Places) -> None:
    places.write(places.project, "mode: exact\n")
    assert load(places.environ, None)["mode"] == "auto"


# Variables


@pytest.mark.parametrize(
    ("variable", "key"),
    [
        ("BRIM_TOKEN_BUDGET", "token_budget.default"),
        ("FLOOP_TOKEN_BUDGET", "token_budget.default"),
        ("BRIM_TOKEN_BUDGET_DYNAMIC", "token_budget.dynamic_context"),
        ("FLOOP_TOKEN_BUDGET_DYNAMIC", "token_budget.dynamic_context"),
        ("BRIM_SESSION_MAX_TOKENS", "session.max_tokens"),
        ("BRIM_INJECTION_MAX_CHARS", "injection.max_chars"),
    ],
)
def test_a_variable_outranks_the_files(places: Places, variable: str, key: str) -> None:
    section, _, name = key.partition(".")
    places.write(places.project, f"{section}:\n  {name}: 7\n")
    assert load({**places.environ, variable: "42"}, str(places.inside)).values[key] == (
        42,
        variable,
    )


def test_floops_variable_counts_only_while_brims_is_unset(places: Places) -> None:
    environ = {**places.environ, "FLOOP_TOKEN_BUDGET": "1", "BRIM_TOKEN_BUDGET": "2"}
    assert load(environ, None)["token_budget.default"] == 2
    assert load({**environ, "BRIM_TOKEN_BUDGET": ""}, None)["token_budget.default"] == 1
    assert load({**environ, "FLOOP_TOKEN_BUDGET": "nonsense"}, None)["token_budget.default"] == 2


def test_every_setting_has_a_variable_but_models_commands_and_what_no_agent_may_change() -> None:
    names = [name for setting in SETTINGS for name in setting.variables]
    assert len(names) == len(set(names))
    assert [setting.key for setting in SETTINGS if not setting.variables] == [
        "models",
        "hooks.notes",
        "hooks.protect",
        "limits",
        "notify",
    ]


@pytest.mark.parametrize(
    ("variable", "text", "message"),
    [
        ("BRIM_MODE", "fast", "mode must be one of"),
        ("BRIM_TOKEN_BUDGET", "2k", "token_budget.default must be a whole number, not '2k'"),
        ("FLOOP_TOKEN_BUDGET", "-1", "token_budget.default must be 0 or more, not -1"),
        ("BRIM_INJECTION_FILL", "maybe", "injection.fill must be true or false, not 'maybe'"),
        ("BRIM_TIERS_FULL", "nan", "tiers.full must be a number, not nan"),
        ("BRIM_SESSION_BACKOFF", "9" * 5_000, "session.backoff must be a whole number, not '9999"),
        ("BRIM_TIERS_SUMMARY", "0.8", "tiers.full (0.7) is less than tiers.summary (0.8)"),
    ],
)
def test_a_wrong_variable_is_an_error_that_names_it(
    places: Places, variable: str, text: str, message: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load({**places.environ, variable: text}, str(places.inside))
    assert str(caught.value).startswith(f"config: {variable}: {message}")
    assert len(str(caught.value)) < 200


# Flags


def test_a_flag_outranks_everything_and_is_named(places: Places) -> None:
    environ = {**places.environ, "BRIM_TOKEN_BUDGET": "5"}
    assert load(environ, None, {"token_budget.default": 0}).values["token_budget.default"] == (
        0,
        "--token-budget",
    )
    assert load(environ, None, {"token_budget.default": "3_000"})["token_budget.default"] == 3_000


@pytest.mark.parametrize("given", [-1, "-1", "2k", 1.5, True])
def test_a_wrong_flag_is_an_error_that_names_it(places: Places, given: object) -> None:
    with pytest.raises(InputError, match=r"^--token-budget must be"):
        load(places.environ, None, {"token_budget.default": given})


# One injection follows the dynamic budget


def per_injection(
    places: Places, content: str = "", variable: str = "", flag: int | None = None
) -> tuple[object, str]:
    places.write(places.home, content)
    environ = {**places.environ, "BRIM_TOKEN_BUDGET_DYNAMIC": variable}
    found: tuple[object, str] = load(environ, None, {"token_budget.dynamic_context": flag}).values[
        "session.max_per_injection"
    ]
    return found


def test_one_injection_follows_a_dynamic_budget_that_was_raised(places: Places) -> None:
    followed = "token_budget.dynamic_context"
    assert per_injection(places) == (500, "default")
    assert per_injection(places, "token_budget: {dynamic_context: 800}\n") == (800, followed)
    assert per_injection(places, variable="900") == (900, followed)
    assert per_injection(places, flag=1_000) == (1_000, followed)
    assert per_injection(places, variable="unlimited") == (None, followed)


def test_one_injection_does_not_follow_a_dynamic_budget_down(places: Places) -> None:
    assert per_injection(places, variable="100") == (500, "default")


def test_one_injection_that_is_set_itself_follows_nothing(places: Places) -> None:
    found = per_injection(places, "session: {max_per_injection: 500}\n", variable="900")
    assert found == (500, f"{places.home}/.brim/config.yaml:1")


# Order


def test_an_order_that_two_files_break_together_names_both(places: Places) -> None:
    user = places.write(places.home, "tiers:\n  full: 0.5\n")
    project = places.write(places.project, "tiers:\n\n  summary: 0.6\n")
    with pytest.raises(ConfigError) as caught:
        load(places.environ, str(places.inside))
    sizes = "tiers.full (0.5) is less than tiers.summary (0.6)"
    assert str(caught.value) == f"config: {user}:2 and {project}:3: {sizes}"


def test_equal_thresholds_are_in_order(places: Places) -> None:
    assert load({**places.environ, "BRIM_TIERS_FULL": "0.3"}, None)["tiers.full"] == 0.3


# Drafts


def test_a_draft_is_taken_in_place_of_the_file(places: Places) -> None:
    path = places.write(places.home, "mode: nonsense\n")
    assert load(places.environ, None, drafts={path: "\nmode: exact\n"}).values["mode"] == (
        "exact",
        f"{path}:2",
    )


SOURCES = ("user", "project", "second variable", "first variable", "flag")
"""Where a setting may stand, the weaker first. Only some have a second variable: floop's."""

WITHIN = {
    "tiers.full": (0.75, 0.95),
    "tiers.summary": (0.35, 0.65),
    "tiers.name_only": (0.05, 0.25),
    "context.warn": (0.1, 0.65),
    "context.compact": (0.72, 0.95),
    "window.response_reserve_min": (0, 400),
    "window.response_reserve_max": (5_000, 9_000),
}
"""Values that keep their order, whichever of them are set."""


def value_of(setting: Setting, place: int) -> Any:
    """Return a value that *setting* may have; those of two places differ, if it has so many."""
    if setting.choices:
        return setting.choices[place % len(setting.choices)]
    if setting.kind == "flag":
        return place % 2 == 0
    if setting.kind == "text":
        return f"gpt-{place}"
    if setting.none and place == 1:
        return None
    least, most = WITHIN.get(
        setting.key, (setting.least or 0, setting.most if setting.most is not None else 9_000)
    )
    value = least + (most - least) * (place + 1) / 8
    return int(value) if setting.kind == "whole" else round(value, 4)


def expected(setting: Setting, given: dict[int, Any], lines: dict[str, str]) -> tuple[Any, str]:
    """Return the value and the origin that *setting* has when it stands at the places in
    *given*."""
    own = given.get(0, setting.default)
    if 1 in given and not (
        setting.is_shared(given[1]) and (not setting.lowers or setting.is_lower(given[1], own))
    ):
        given = {place: value for place, value in given.items() if place != 1}
    if not given:
        return setting.default, "default"
    place = max(given)
    names = {2: setting.variables[-1], 3: setting.variables[0], 4: setting.flag}
    return given[place], names.get(place) or lines[f"{SOURCES[place]} {setting.key}"]


@pytest.mark.parametrize("round", range(32))
def test_the_strongest_source_of_every_setting_wins(places: Places, round: int) -> None:
    files: dict[str, dict[str, Any]] = {"user": {}, "project": {}}
    environ, flags = dict(places.environ), {}
    chosen: dict[str, dict[int, Any]] = {}
    for number, setting in enumerate(each for each in SETTINGS if each.variables):
        given = {
            place: value_of(setting, place)
            for place in range(5)
            if (round + 11 * number) % 32 >> place & 1
        }
        if len(setting.variables) == 1:
            given.pop(2, None)
        chosen[setting.key] = given
        for place, value in given.items():
            if place < 2:
                section, _, name = setting.key.rpartition(".")
                (
                    files[SOURCES[place]].setdefault(section, {})
                    if section
                    else files[SOURCES[place]]
                )[name] = value
            elif place == 4:
                flags[setting.key] = value
            else:
                environ[setting.variables[-1 if place == 2 else 0]] = setting.shown(value)
    lines: dict[str, str] = {}
    for source, folder in (("user", places.home), ("project", places.project)):
        text = yaml.safe_dump(files[source])
        path = places.write(folder, text)
        section = ""
        for at, line in enumerate(text.splitlines(), 1):
            name = line.partition(":")[0]
            section = section if line.startswith(" ") else name
            key = f"{section}.{name.strip()}" if line.startswith(" ") else name
            lines[f"{source} {key}"] = f"{path}:{at}"
    found = load(environ, str(places.inside), flags)
    for setting in SETTINGS:
        if setting.key in chosen and not setting.follows:
            assert tuple(found.values[setting.key]) == expected(
                setting, chosen[setting.key], lines
            ), setting.key
    for _ in range(2):
        again = load_cached(environ, str(places.inside), flags, now=4e9)
        assert again.values == found.values
