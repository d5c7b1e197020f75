"""The prices in whole numbers are those of the full record, to the micro-dollar: another arithmetic
says so here."""

from __future__ import annotations

import math
import random
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from brim.models import Model, Tokens, cost, model, models, use
from brim.models.charges import charges_of, day_of
from brim.models.price_list import PriceList

FIELDS = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
LENGTHS = (0, 1, 7, 90_000, 199_999, 200_001, 1_000_003)


def expected(tokens: Tokens, known: Model, day: date) -> int | None:
    """The cost by the full record, in fractions."""
    if not any(getattr(tokens, field) for field in FIELDS):
        return 0
    in_force = [price for price in known.prices if price.since is None or price.since <= day]
    if not in_force:
        return None
    services = {service.service: service for service in in_force[-1].services}
    own = [services[name] for name in tokens.factors if name in services]
    priced = own[0] if own else in_force[-1]
    reached = [tier for tier in priced.tiers if tokens.prompt > tier.above]
    rates = reached[-1] if reached else priced
    total = Fraction(0)
    for field in FIELDS:
        count, rate = getattr(tokens, field), getattr(rates, field)
        if rate is None and field == "cache_write_5m" and tokens.writes_are_input:
            rate = rates.input
        if count and rate is None:
            return None
        total += count * Fraction(rate or 0)
    factors = dict(known.factors)
    for name in set(tokens.factors) - set(services):
        if name not in factors and name != "us":
            return None
        total *= Fraction(factors.get(name, 1))
    return math.ceil(total)


def requests(rng: random.Random) -> list[Tokens]:
    """A few requests: every counter alone, all together, in OpenAI's form, and with every
    factor."""
    alone = [Tokens(**{field: rng.choice(LENGTHS)}) for field in FIELDS]  # type: ignore[arg-type]
    counts = {field: rng.choice(LENGTHS) for field in FIELDS}
    return [
        *alone,
        Tokens(**counts),  # type: ignore[arg-type]
        Tokens(**counts, writes_are_input=True),  # type: ignore[arg-type]
        *[
            Tokens(input=rng.choice(LENGTHS), output=9, factors=(name,))
            for name in ("batch", "fast", "us", "flex", "priority")
        ],
        Tokens(input=rng.choice(LENGTHS), output=9, factors=("fast", "us")),
    ]


def test_every_model_of_the_table_costs_what_its_record_says_on_every_day_that_a_price_begins() -> (
    None
):
    rng = random.Random(1)
    everything = models()
    assert len(everything) > 4_000
    for known in everything:
        charges = charges_of(known.name)
        starts = [price.since for price in known.prices if price.since]
        for day in {date(2026, 11, 15), *starts, *[start - timedelta(1) for start in starts]}:
            for tokens in rng.sample(requests(rng), 2):
                found = charges.cost(tokens, (day.year, day.month, day.day))
                assert found == expected(tokens, known, day), (known.name, day, tokens)


@pytest.mark.parametrize(
    "name",
    [
        "claude-sonnet-4-5",
        "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
        "some/gpt-4o",
        "",
        "nobody",
    ],
)
def test_a_name_and_its_record_cost_the_same(name: str) -> None:
    for tokens in requests(random.Random(2)):
        assert cost(tokens, name, on=date(2026, 1, 1)) == cost(
            tokens, model(name), on=date(2026, 1, 1)
        )


floats = st.floats(0, 999_999).filter(
    lambda price: price == 0 or price > 1e-30
)  # what is less is refused
prices = (
    st.decimals(min_value=0, max_value=Decimal("999999.999"), places=9) | floats | st.integers(0, 9)
)


@settings(max_examples=40)
@given(st.fixed_dictionaries({}, optional=dict.fromkeys(FIELDS, prices)), st.integers(0, 99))
def test_prices_of_the_configuration_cost_what_their_record_says(
    given: dict[str, object], seed: int
) -> None:
    use(
        {
            "own": {"prices": given},
            "like-own": {"like": "own"},
            "gpt-4o": {"context_window": 64_000},
        }
    )
    day = (2026, 11, 15)
    for name in ("own", "like-own", "gpt-4o"):
        charges, known = charges_of(name), model(name)
        for tokens in requests(random.Random(seed)):
            assert charges.cost(tokens, day) == expected(tokens, known, date(*day))
    for field in FIELDS:
        rate = getattr(model("own").prices[0], field)
        assert rate == (Decimal(str(given[field])) if field in given else None)


def test_a_sum_of_requests_is_charged_without_the_rates_of_long_prompts() -> None:
    tokens = {"claude-sonnet-4-5": Tokens(input=1_000_000)}
    assert PriceList().sum(tokens, None) == 3_000_000
    assert PriceList().request(tokens["claude-sonnet-4-5"], "claude-sonnet-4-5", None) == 6_000_000


@given(st.floats(-6e10, 2e11))
def test_the_day_of_a_time_is_that_of_the_calendar(time: float) -> None:
    shown = date(1970, 1, 1) + timedelta(seconds=time // 1) if time >= 0 else date(1970, 1, 1)
    assert date(*day_of(time)) == min(shown, date(3000, 1, 1))
