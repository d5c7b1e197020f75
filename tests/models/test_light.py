from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import brim
import brim.models
from brim.models import Light, lookup

DATA = Path(brim.models.__file__).parent / "data"

SOURCE = str(Path(brim.__file__).parent.parent)
TOO_SLOW_FOR_A_HOOK = ("pathlib", "logging", "subprocess")


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("gpt-4o", 128_000),
        ("gpt-4o-mini", 128_000),
        ("gpt-4-turbo", 128_000),
        ("gpt-4", 8_192),
        ("gpt-3.5-turbo", 16_385),
        ("gpt-3.5-turbo-16k", 16_385),
    ],
)
def test_the_six_windows_of_the_first_calculator(name: str, window: int) -> None:
    assert (lookup(name).context_window, lookup(name).max_input) == (window, window)


@pytest.mark.parametrize(
    ("name", "window", "max_input", "max_output"),
    [
        ("gpt-5", 400_000, 272_000, 128_000),
        ("gpt-5-codex", 400_000, 272_000, 128_000),
        ("gpt-5.1-codex", 400_000, 272_000, 128_000),
        ("gpt-5.4", 1_050_000, 922_000, 128_000),
        ("gpt-6-sol", 1_050_000, 922_000, 128_000),
        ("azure/gpt-5", 400_000, 272_000, 128_000),
        ("gpt-5-chat-latest", 128_000, 128_000, 16_384),
        ("o3", 200_000, 200_000, 100_000),
        ("claude-sonnet-4-5", 200_000, 200_000, 64_000),
        ("claude-opus-4-8", 1_000_000, 1_000_000, 128_000),
        ("gemini-2.5-pro", 1_048_576, 1_048_576, 65_535),
    ],
)
def test_window_is_the_total_and_max_input_the_prompt(
    name: str, window: int, max_input: int, max_output: int
) -> None:
    light = lookup(name)
    assert (light.context_window, light.max_input, light.max_output) == (
        window,
        max_input,
        max_output,
    )


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("gpt-4o", "gpt-4o"),
        ("  GPT-4o ", "gpt-4o"),
        ("openai/gpt-4o", "gpt-4o"),
        ("openai:gpt-4o", "gpt-4o"),
        ("azure/gpt-4o", "azure/gpt-4o"),
        ("gpt-4o-2099-01-01", "gpt-4o"),
        ("ft:gpt-4o:my-org::abc123", "ft:gpt-4o"),
        ("gpt-35-turbo", "gpt-3.5-turbo"),
        ("claude-sonnet-4-5-20990101", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5@20990101", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5-latest", "claude-sonnet-4-5"),
        ("claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("claude-4.5-sonnet", "claude-sonnet-4-5"),
        ("claude-3-5-sonnet-20241022", "claude-3-5-sonnet"),
        ("claude-sonnet-3.5", "claude-3-5-sonnet"),
        ("claude-opus-4-20250514", "claude-opus-4-0"),
        ("sonnet", "claude-sonnet-5-5"),
        ("claude-3-opus-20240229", "claude-3-opus-latest"),
        (
            "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        ),
        ("eu.anthropic.claude-sonnet-4-5-20990929-v1:0", "claude-sonnet-4-5"),
        (
            "arn:aws:bedrock:us-east-1:1:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        ),
        ("vertex_ai/claude-sonnet-4-5@20250929", "vertex_ai/claude-sonnet-4-5@20250929"),
        ("litellm_proxy/anthropic/claude-opus-4.8:beta", "claude-opus-4-8"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("gemini-2.5-pro-preview-05-06", "gemini-2.5-pro"),
        ("gemini-2-5-pro", "gemini-2.5-pro"),
    ],
)
def test_every_spelling_of_a_known_model_is_resolved(name: str, canonical: str) -> None:
    assert (lookup(name).name, lookup(name).resolved) == (canonical, True)


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("claude-sonnet-4-5[1m]", 1_000_000),
        ("claude-opus-4-8[200k]", 200_000),
        ("sonnet[1M]", 1_000_000),
        ("anthropic/claude-sonnet-4-5-20250929[1m]", 1_000_000),
        ("claude-sonnet-4-5[huge]", 200_000),
    ],
)
def test_a_suffix_asks_for_a_window(name: str, window: int) -> None:
    assert lookup(name).context_window == window
    assert lookup(name).max_input == window


@pytest.mark.parametrize(
    ("name", "window", "encoding"),
    [
        ("gpt-4o-superfast", 128_000, "o200k_base"),
        ("gpt-5.5-imagined", 1_050_000, "o200k_base"),
        ("claude-sonnet-9", 1_000_000, "claude-4.7"),
        ("claude-9-sonnet", 1_000_000, "claude-4.7"),
        ("bedrock/us.anthropic.claude-opus-9-v1:0", 1_000_000, "claude-4.7"),
        ("gemini-9-pro", 1_048_576, "gemini"),
        ("my-host/llama-3.3-70b-instruct", 131_072, "llama3"),
    ],
)
def test_an_unknown_name_takes_the_values_of_its_family(
    name: str, window: int, encoding: str
) -> None:
    light = lookup(name)
    assert (light.name, light.context_window, light.encoding, light.resolved) == (
        name,
        window,
        encoding,
        False,
    )


def test_a_known_name_without_a_window_takes_its_familys() -> None:
    light = lookup("command-r-plus")
    assert (light.name, light.encoding, light.resolved) == ("command-r-plus", "command", False)
    assert light.context_window == 128_000
    without = [
        name
        for name, record in json.loads((DATA / "models.json").read_bytes())["models"].items()
        if "context_window" not in record
    ]
    assert without
    assert {name: (lookup(name).name, lookup(name).resolved) for name in without} == {
        name: (name, False) for name in without
    }


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        "whatever",
        "<synthetic>",
        "~claude",
        "#key",
        "gpt\n4o",
        "x" * 100_000,
        "\0",
        "\ud800",
    ],
)
def test_a_name_that_nobody_knows_is_small_and_says_so(name: str) -> None:
    light = lookup(name)
    assert (light.context_window, light.max_input, light.max_output) == (8_192, 8_192, None)
    assert (light.encoding, light.resolved) == ("cl100k_base", False)


@pytest.mark.parametrize("name", ["openai/#key", "models/~o4", "us.~claude"])
def test_a_line_of_the_table_that_is_no_model_is_not_found_behind_a_provider(name: str) -> None:
    assert not lookup(name).resolved


pieces = st.sampled_from(
    [
        "gpt-4o",
        "claude",
        "sonnet",
        "4.5",
        "-",
        ".",
        "/",
        ":",
        "@",
        "[1m]",
        "[",
        "]",
        "us.",
        "ft:",
        "20250929",
        "v1",
        "\t",
        "~",
        "#key",
        "é",
        "\ud800",
        "\0",
    ]
)


@given(st.one_of(st.text(), st.lists(pieces, max_size=40).map("".join)))
def test_lookup_never_raises_and_always_has_room(name: str) -> None:
    light = lookup(name)
    assert 0 < light.max_input <= light.context_window
    assert light.max_output is None or light.max_output > 0


@given(
    st.sampled_from(["gpt-4o", "claude-sonnet-4-5", "gemini-2.5-pro", "o3", "gpt-5"]),
    st.dates().map(str),
)
def test_a_dated_name_is_the_model_without_the_date(name: str, day: str) -> None:
    assert lookup(f"{name}-{day}").context_window == lookup(name).context_window
    assert lookup(f"{name}-{day.replace('-', '')}").resolved


def test_a_light_cannot_be_changed() -> None:
    light = lookup("gpt-4o")
    with pytest.raises(AttributeError):
        light.name = "gpt-5"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del light.name
    assert light == lookup("GPT-4O")
    assert hash(light) == hash(lookup("openai/gpt-4o"))
    assert light != lookup("gpt-5")
    assert pickle.loads(pickle.dumps(light)) == light
    assert repr(light).startswith(
        "Light(name='gpt-4o', encoding='o200k_base', context_window=128000"
    )
    assert isinstance(light, Light)


def test_the_hot_path_imports_nothing_heavy() -> None:
    lookups = "; ".join(
        f"lookup({name!r})" for name in ("gpt-4o", "sonnet[1m]", "gpt-4o-superfast", "whatever")
    )
    script = (
        "import sys; bare = set(sys.modules); sys.path.insert(0, sys.argv[1]);"
        f"from brim.models.light import lookup; from brim.models import use; use({{'mine': {{'like': 'gpt-4o'}}}});"
        f"lookup('mine'); {lookups}; print(*sorted(set(sys.modules) - bare))"
    )
    run = subprocess.run(
        [sys.executable, "-I", "-S", "-c", script, SOURCE],
        capture_output=True,
        text=True,
        check=True,
    )
    imported = run.stdout.split()
    assert "brim.models.light" in imported
    assert not {name.partition(".")[0] for name in imported} & set(TOO_SLOW_FOR_A_HOOK)
