from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import cast

import pytest

from brim.errors import ConfigError
from brim.models import cost, lookup, model, models, report_window, use


def test_config_adds_a_model() -> None:
    use(
        {
            "My-Model": {
                "context_window": 300_000,
                "max_input": 250_000,
                "max_output": 50_000,
                "encoding": "o200k_base",
                "prices": {"input": "2.5", "output": 10, "cache_read": 0.25},
            }
        }
    )
    light, full = lookup("openai/my-model"), model("my-model-2099-01-01")
    assert (light.name, light.context_window, light.max_input, light.max_output) == (
        "My-Model",
        300_000,
        250_000,
        50_000,
    )
    assert (full.encoding, full.resolved, full.source) == ("o200k_base", True, "config")
    price = full.price(date(2020, 1, 1))
    assert price is not None
    assert (price.input, price.output, price.cache_read) == (
        Decimal("2.5"),
        Decimal(10),
        Decimal("0.25"),
    )
    assert price.cache_write_5m is None
    assert cost({"input_tokens": 3, "output_tokens": 1}, "my-model") == 18


def test_config_overrides_one_field_and_leaves_the_others() -> None:
    before = model("gpt-4o")
    use({"gpt-4o": {"context_window": 64_000}})
    after = model("openai/gpt-4o")
    assert (after.context_window, after.max_input) == (64_000, 64_000)
    assert (after.max_output, after.encoding, after.prices) == (
        before.max_output,
        before.encoding,
        before.prices,
    )
    assert (after.provider, after.source) == ("openai", "config")
    assert lookup("gpt-4o-mini").context_window == 128_000


def test_like_takes_everything_that_is_not_given_from_another_model() -> None:
    use({"proxy": {"like": "gpt-5", "max_output": 1_000}, "second": {"like": "proxy"}})
    for name in ("proxy", "second"):
        assert (lookup(name).context_window, lookup(name).max_input, lookup(name).max_output) == (
            400_000,
            272_000,
            1_000,
        )
        assert model(name).prices == model("gpt-5").prices


def test_given_prices_replace_all_prices() -> None:
    use({"gpt-4o": {"prices": {"input": 1}}})
    price = model("gpt-4o").price()
    assert price is not None
    assert (price.input, price.output, price.cache_read) == (Decimal(1), None, None)


def test_each_call_replaces_the_one_before() -> None:
    use({"a-model": {"context_window": 1_000}})
    use({"b-model": {"context_window": 2_000}})
    assert (lookup("a-model").resolved, lookup("b-model").context_window) == (False, 2_000)


def test_a_refused_configuration_changes_nothing() -> None:
    use({"a-model": {"context_window": 1_000}})
    with pytest.raises(ConfigError):
        use({"b-model": {"context_window": 0}})
    assert lookup("a-model").context_window == 1_000


def test_configuration_outranks_a_report_and_an_asked_window_outranks_both() -> None:
    report_window("gpt-4o", 90_000)
    use({"gpt-4o": {"context_window": 80_000}})
    assert lookup("gpt-4o").context_window == 80_000
    assert lookup("gpt-4o[1m]").context_window == 1_000_000


def test_a_name_with_a_suffix_can_be_configured_itself() -> None:
    use({"claude-opus-4-8[1m]": {"like": "claude-opus-4-8", "context_window": 900_000}})
    assert lookup("claude-opus-4-8[1m]").context_window == 900_000
    assert lookup("claude-opus-4-8").context_window == 1_000_000


def test_configured_models_are_found_by_the_search() -> None:
    use({"zz-mine": {"context_window": 5_000}})
    assert [found.name for found in models("zz-*")] == ["zz-mine"]


def test_max_input_is_never_larger_than_the_window() -> None:
    use({"odd": {"context_window": 1_000, "max_input": 5_000}})
    assert lookup("odd").max_input == 1_000


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        (
            {"m": {"context_window": "2k"}},
            'models.m.context_window must be a positive whole number, not "2k"',
        ),
        (
            {"m": {"context_window": 0}},
            "models.m.context_window must be a positive whole number, not 0",
        ),
        (
            {"m": {"max_input": True}},
            "models.m.max_input must be a positive whole number, not True",
        ),
        (
            {"m": {"max_output": 1.5}},
            "models.m.max_output must be a positive whole number, not 1.5",
        ),
        ({"m": {"encoding": ""}}, 'models.m.encoding must be a name, not ""'),
        ({"m": {"like": 3}}, "models.m.like must be a name, not 3"),
        (
            {"m": {"windows": 3}},
            "models.m.windows is not a setting; there are context_window, max_input",
        ),
        (
            {"m": {"prices": {"in": 1}}},
            "models.m.prices.in is not a price; there are input, output",
        ),
        (
            {"m": {"prices": {"input": -1}}},
            "models.m.prices.input must be dollars per million tokens, 0 or more, not -1",
        ),
        (
            {"m": {"prices": {"input": "cheap"}}},
            'models.m.prices.input must be dollars per million tokens, 0 or more, not "cheap"',
        ),
        ({"m": {"prices": {"input": float("nan")}}}, "models.m.prices.input must be dollars"),
        ({"m": {"prices": {"input": True}}}, "models.m.prices.input must be dollars"),
        ({"m": {"prices": {"input": "1e-999999"}}}, "models.m.prices.input must be dollars"),
        ({"m": {"prices": {"input": "0e-999999999999"}}}, "models.m.prices.input must be dollars"),
        ({"m": {"prices": {"input": [1]}}}, "models.m.prices.input must be dollars"),
        ({"m": {"prices": 3}}, "models.m.prices must be a mapping, not 3"),
        ({"m": 128_000}, "models.m must be a mapping, not 128000"),
        ({3: {}}, "models must have names as keys, not 3"),
        (["m"], "models must be a mapping"),
        ({"m": {"like": "M"}}, "models.m.like leads back to itself"),
        ({"m": {"like": "openai/m"}}, "models.m.like leads back to itself"),
        ({"a": {"like": "b"}, "b": {"like": "a"}}, "models.a.like leads back to itself"),
    ],
)
def test_a_wrong_setting_is_named(overrides: object, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(message)):
        use(cast("Mapping[str, Mapping[str, object]]", overrides))


def test_an_override_may_be_like_a_dated_name_of_itself() -> None:
    use({"gpt-4o": {"like": "gpt-4o-2024-05-13"}})
    price = model("gpt-4o").price()
    assert price is not None
    assert price.input == Decimal(5)
