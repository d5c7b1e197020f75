"""Build the model table that brim ships, from two public registries of models and prices.

    pip download --no-deps litellm
    python scripts/build_models.py --litellm litellm-*.whl [--date YYYY-MM-DD] [--check]

Reads litellm's registry (a JSON file in its wheel, or in the installed package), genai-prices,
which is installed, and the small rule files next to the table; writes models.json (every field),
index.tsv (what the hot path needs) and disagreements.tsv (where the two registries differ). The
same inputs, date and earlier table give the same bytes.

A price row is never overwritten: when a price has changed since the table that is there, a row from
the build date on is added below it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
import zipfile
from collections.abc import Iterable, Mapping
from datetime import date, datetime, time
from decimal import Context, Decimal
from fractions import Fraction
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from brim.models.light import encoding_of
from brim.models.names import spellings

DATA = Path(__file__).parent.parent / "src/brim/models/data"
REGISTRY = "model_prices_and_context_window_backup.json"
MODES = ("chat", "responses", "completion", "embedding")
RATES = ("input", "output", "cache_read", "cache_write_5m", "cache_write_1h")
EXTRAS = ("input_audio", "output_audio", "web_search")
PRICES = (*RATES, *EXTRAS)
SIZES = ("context_window", "max_input", "max_output")
Record = dict[str, Any]
# Ways to be served that have prices of their own -> how litellm's fields end.
SERVICES = {"flex": "_flex", "priority": "_priority", "batch": "_batches"}
# What genai-prices calls them.
GENAI_SERVICES = {
    ("service_tier", "flex"): "flex",
    ("service_tier", "priority"): "priority",
    ("service_tier", "fast"): "fast",
    ("speed", "fast"): "fast",
    ("processing", "batch"): "batch",
}

LITELLM_FIELDS = {
    "input": ("input_cost_per_token",),
    "output": ("output_cost_per_token",),
    "cache_read": ("cache_read_input_token_cost", "input_cost_per_token_cache_hit"),
    "cache_write_5m": ("cache_creation_input_token_cost",),
    "cache_write_1h": ("cache_creation_input_token_cost_above_1hr",),
    "input_audio": ("input_cost_per_audio_token",),
    "output_audio": ("output_cost_per_audio_token",),
}
GENAI_FIELDS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write_5m": "cache_write_mtok",
    "cache_write_1h": "cache_write_1h_mtok",
    "input_audio": "input_audio_mtok",
    "output_audio": "output_audio_mtok",
}
# genai-prices' provider -> how litellm writes its models' names, and the providers litellm files
# them under.
GENAI_PROVIDERS = {
    "anthropic": ("", ("anthropic",)),
    "openai": ("", ("openai", "text-completion-openai")),
    "google": ("", ("gemini", "vertex_ai-language-models")),
    "cohere": ("", ("cohere", "cohere_chat")),
    "deepseek": ("deepseek/", ("deepseek",)),
    "mistral": ("mistral/", ("mistral",)),
    "moonshotai": ("moonshot/", ("moonshot",)),
    "x-ai": ("xai/", ("xai",)),
    "zai": ("zai/", ("zai",)),
    "openrouter": ("openrouter/", ("openrouter",)),
}
# Makers whose models people name without a prefix.
MAKERS = ("deepseek/", "mistral/", "moonshot/", "xai/", "zai/", "minimax/", "meta/", "perplexity/")
# A price of 0 is true where the model runs on the user's own machine; elsewhere it stands for "not
# filled in".
RUNS_LOCALLY = ("ollama", "lemonade")
NOT_TEXT = re.compile(r"image|tts|transcribe|whisper|realtime|live|voice|ocr|moderation|lyria|veo")
SPEECH = re.compile(r"tts|transcribe|realtime")
# What genai-prices lists for models that are charged by tokens, apart from GENAI_FIELDS. Sound that
# is read from a cache costs what text does.
OTHER_TOKEN_PRICES = {"web_searches_kcount", "cache_audio_read_mtok"}


def per_million(per_token: float | int) -> str:
    """Turn a registry's float per token into USD per million tokens, without the noise of binary
    floats."""
    twelve_digits = Context(prec=12).create_decimal(repr(per_token))
    return plain(twelve_digits * 1_000_000)


def plain(number: Decimal) -> str:
    """Write *number* without exponent and without trailing zeros: ``Decimal("2.50")`` is
    ``"2.5"``."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def litellm_price(entry: Mapping[str, Any], provider: str, mode: str) -> Record:
    """Read the current price out of one litellm *entry*; fields that it does not have are
    absent."""
    ranges = sorted(entry.get("tiered_pricing") or (), key=lambda part: part["range"][0])
    row = _litellm_fields(ranges[0] if ranges else entry)
    tiers = [{"above": int(part["range"][0]), **_litellm_fields(part)} for part in ranges[1:]]
    marks = {
        int(m[1])
        for key in entry
        if (m := re.fullmatch(r"input_cost_per_token_above_(\d+)k_tokens", key))
    }
    tiers += [
        {"above": mark * 1000, **_litellm_fields(entry, f"_above_{mark}k_tokens")}
        for mark in sorted(marks)
    ]
    if provider not in RUNS_LOCALLY:
        row = _without_placeholders(row, mode)
    return _with_tiers(row, tiers)


def _litellm_fields(entry: Mapping[str, Any], suffix: str = "") -> Record:
    row = {}
    for field, keys in LITELLM_FIELDS.items():
        value = next(
            (entry[key + suffix] for key in keys if entry.get(key + suffix) is not None), None
        )
        if isinstance(value, int | float):
            row[field] = per_million(value)
    searches = (
        set((entry.get("search_context_cost_per_query") or {}).values()) if not suffix else set()
    )
    if len(searches) == 1:  # the same for every amount of context
        row["web_search"] = per_million(searches.pop())
    return row


def _without_placeholders(row: Record, mode: str) -> Record:
    if row.get("input", "0") == "0" and row.get("output", "0") == "0":
        return {}
    free_output = mode == "embedding"
    return {
        field: price
        for field, price in row.items()
        if price != "0" or (field == "output" and free_output)
    }


def _with_tiers(row: Record, tiers: list[Record]) -> Record:
    """Add *tiers* to *row*, each complete: in both registries a field that a tier does not name
    keeps its price."""
    full = [
        {"above": tier["above"], **{f: tier.get(f, row[f]) for f in PRICES if f in row}}
        for tier in tiers
    ]
    full = [tier for tier in full if {**tier, "above": 0} != {"above": 0, **row}]
    return {**row, "tiers": full} if full and row else row


def litellm_record(
    name: str, entry: Mapping[str, Any], rules: Mapping[tuple[str, int, int], tuple[int, int]]
) -> Record:
    """Turn one litellm *entry* into a record of the table."""
    provider, mode = str(entry["litellm_provider"]), str(entry["mode"])
    encoding = encoding_of(name.lower())
    max_input, max_output = (
        _tokens(entry.get("max_input_tokens")),
        _tokens(entry.get("max_output_tokens")),
    )
    window = max_input
    if (encoding, max_input, max_output) in rules:
        window, max_input = rules[encoding, max_input, max_output]
    price = litellm_price(entry, provider, mode)
    about = {"provider": provider, "mode": mode, "encoding": encoding, "source": "litellm"}
    return _record(
        about, (window, max_input, max_output), [price] if price else [], _factors(entry)
    )


def _tokens(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _factors(entry: Mapping[str, Any]) -> Record:
    """Return what the price is multiplied by for US-only inference and for fast mode, where the
    registry says."""
    extra = entry.get("provider_specific_entry") or {}
    return {
        key: plain(Decimal(repr(extra[key])))
        for key in ("us", "fast")
        if isinstance(extra.get(key), int | float)
    }


def litellm_services(entry: Mapping[str, Any]) -> dict[str, Record]:
    """Return the prices of each service that litellm's *entry* lists; long prompts are in
    ``tiers``."""
    services = {}
    for name, suffix in SERVICES.items():
        row = _litellm_fields(entry, suffix)
        if "input" not in row or ("output" not in row and entry["mode"] != "embedding"):
            continue
        pattern = re.compile(rf"input_cost_per_token_above_(\d+)k_tokens{suffix}")
        marks = sorted(int(match[1]) for key in entry if (match := pattern.fullmatch(key)))
        tiers = [
            {"above": mark * 1000, **_litellm_fields(entry, f"_above_{mark}k_tokens{suffix}")}
            for mark in marks
        ]
        services[name] = {**row, "tiers": tiers} if tiers else row
    return services


def genai_services(model: Any, on: str) -> dict[str, Record]:
    """Return the prices *on* a date of each service that genai-prices lists for *model*."""
    services: dict[str, Record] = {}
    for variant in getattr(model, "price_variants", None) or ():
        name = next(
            (GENAI_SERVICES[pair] for pair in variant.when.items() if pair in GENAI_SERVICES), ""
        )
        start = getattr(variant.constraint, "start_date", None)
        row = _genai_row(variant.prices)
        if (
            name
            and len(variant.when) == 1
            and (start or date.min).isoformat() <= on
            and "input" in row
        ):
            services[name] = row
    return services


def add_services(record: Record, services: Mapping[str, Record], on: str) -> None:
    """Put *services* into *record*: a factor if it gives every listed price, else prices in the row
    in force."""
    in_force = [row for row in record["prices"] if (row["from"] or "") <= on]
    if not in_force:
        return
    row = in_force[-1]
    own_prices = {}
    for name, service in sorted(services.items()):
        if name in record.get("factors", {}):
            continue
        factor = common_factor(row, service, name)
        if factor:
            record["factors"] = {**record.get("factors", {}), name: factor}
        else:
            own_prices[name] = _complete_service(row, service)
    if own_prices:
        at = record["prices"].index(row)
        record["prices"] = [*record["prices"]]
        record["prices"][at] = {**row, "services": own_prices}


def common_factor(row: Record, service: Record, name: str) -> str:
    """Return what gives all prices of *service* out of those of *row*, exactly; empty if nothing
    does.

    Batches needn't list a price for cached tokens: providers multiply that one too.
    """
    pairs = [(row, service)]
    tiers = {tier["above"]: tier for tier in row.get("tiers", ())}
    pairs += [(tiers.get(tier["above"], {}), tier) for tier in service.get("tiers", ())]
    needed = ("input",) if name == "batch" else ("input", "output", "cache_read")
    if any(field in row and field not in service for field in needed):
        return ""
    factors = set()
    for standard, other in pairs:
        for field in (field for field in PRICES if field in other):
            price = Fraction(standard.get(field, "0"))
            if not price:
                return ""
            factors.add(Fraction(other[field]) / price)
    exact = {plain(Decimal(factor.numerator) / factor.denominator) for factor in factors}
    if len(factors) != 1 or {Fraction(text) for text in exact} != factors:
        return ""
    return exact.pop()


def _complete_service(row: Record, service: Record) -> Record:
    """Return *service* with the price of a search, which no service changes, and with a tier for
    each of *row*.

    Where no price of long prompts is listed, the tier is empty: it isn't known.
    """
    search = {"web_search": row["web_search"]} if "web_search" in row else {}
    listed = {tier["above"]: tier for tier in service.get("tiers", ())}
    marks = sorted({*listed, *(tier["above"] for tier in row.get("tiers", ()))})
    tiers = [{**listed.get(mark, {"above": mark}), **search} for mark in marks]
    rates = {field: price for field, price in service.items() if field != "tiers"}
    return {**rates, **search, "tiers": tiers} if tiers else {**rates, **search}


def _record(
    about: Record, windows: tuple[int, int, int], prices: list[Record], factors: Record
) -> Record:
    sizes = dict(zip(SIZES, windows, strict=True))
    record = {**about, **{key: value for key, value in sizes.items() if value}}
    record |= {"factors": factors} if factors else {}
    record["prices"] = [
        {"from": None, **price} if "from" not in price else price for price in prices
    ]
    return record


def genai_rows(model: Any) -> list[Record]:
    """Read a genai-prices *model*'s rows, oldest first; prices that depend on the time of day are
    left out."""
    conditional = model.prices if isinstance(model.prices, list) else None
    if conditional is None:
        return [{"from": None, **row}] if (row := _genai_row(model.prices)) else []
    if any(hasattr(part.constraint, "start_time") for part in conditional):
        return []
    rows = [
        (getattr(part.constraint, "start_date", None), _genai_row(part.prices))
        for part in conditional
    ]
    rows.sort(key=lambda pair: pair[0] or date.min)
    return [{"from": start.isoformat() if start else None, **row} for start, row in rows if row]


def _genai_row(price: Any) -> Record:
    row: Record = {}
    tiers: dict[int, Record] = {}
    for field, key in GENAI_FIELDS.items():
        value = getattr(price, key, None)
        if value is None:
            continue
        row[field] = plain(getattr(value, "base", value))
        for tier in getattr(value, "tiers", ()):
            tiers.setdefault(tier.start, {"above": tier.start})[field] = plain(tier.price)
    searches = getattr(price, "web_searches_kcount", None)
    if searches is not None:
        row["web_search"] = plain(getattr(searches, "base", searches) * 1000)
    return _with_tiers(row, [tiers[start] for start in sorted(tiers)])


def is_charged_by_tokens(name: str, model: Any) -> bool:
    """Tell whether the table has a rate for everything that *model* charges for.

    Models for images, music and documents charge for other things, even if genai-prices lists only
    the prices of their tokens. So do models for speech that charge by the hour or the letter.
    """
    if not NOT_TEXT.search(name):
        return True
    if not SPEECH.search(name):
        return False
    rows = model.prices if isinstance(model.prices, list) else [model]
    charged = {
        field for row in rows for field, price in vars(row.prices).items() if price is not None
    }
    return charged <= {*GENAI_FIELDS.values(), *OTHER_TOKEN_PRICES}


def genai_record(provider: str, model: Any) -> Record:
    """Turn a model that only genai-prices has into a record of the table."""
    mode = "embedding" if "embed" in model.id else "chat"
    rows = [
        row
        for row in genai_rows(model)
        if ":free" in model.id or _without_placeholders({**row}, mode)
    ]
    if "tts" in model.id:  # everything that it writes is sound
        rows = [{**row, "output_audio": row["output"]} for row in rows]
    window = model.context_window or 0
    about = {
        "provider": provider,
        "mode": mode,
        "encoding": encoding_of(model.id.lower()),
        "source": "genai-prices",
    }
    return _record(about, (window, window, 0), rows, {})


def current(rows: Iterable[Record], on: str) -> Record:
    """Return the prices of the row in force *on* a date, without its dates; empty if there is
    none."""
    row = next((row for row in reversed(list(rows)) if (row["from"] or "") <= on), {})
    return {key: value for key, value in row.items() if key != "from"}


def merge_prices(
    record: Record, model: Any, exact: bool, on: str
) -> list[tuple[str, str, str, str]]:
    """Give *record* the history that genai-prices has, and return the fields where the two disagree
    and who won.

    Where both have a current price and agree, genai-prices adds what litellm lacks (history, tiers,
    1 h cache writes). Where they disagree, litellm wins, unless its price is the one that
    genai-prices says ended on a given date. A model that genai-prices matched only by pattern may
    be another variant, so a disagreement there says nothing.
    """
    rows, ours = genai_rows(model), current(record["prices"], on)
    theirs = current(rows, on)
    if not ours or not theirs:
        return []
    differing = [f for f in RATES if f in ours and f in theirs and ours[f] != theirs[f]]
    if differing and not exact:
        return []
    past = [row for row in rows[:-1] if all(row.get(f) == ours.get(f) for f in ("input", "output"))]
    winner = (
        "genai-prices" if any(f in ("input", "output") for f in differing) and past else "litellm"
    )
    if winner == "litellm":
        row = next((row for row in reversed(rows) if (row["from"] or "") <= on), None)
        extra = theirs if not differing else {}
        merged = {"from": row["from"] if row else None, **extra, **ours}
        record["prices"] = (
            [merged if each is row else each for each in rows]
            if not differing or exact
            else record["prices"]
        )
    else:
        record["prices"] = rows
    record["source"] = (
        "litellm+genai-prices" if winner == "litellm" else "litellm; prices genai-prices"
    )
    return [(field, ours[field], theirs[field], winner) for field in differing]


def keep_history(record: Record, earlier: Record | None, on: str) -> None:
    """Put *earlier*'s price rows before *record*'s: none is changed; what is new starts at its own
    or build date."""
    if not earlier or not earlier["prices"]:
        if earlier and record["prices"]:
            record["prices"] = [
                row if row["from"] else {**row, "from": on} for row in record["prices"]
            ]
        return
    rows, fresh = list(earlier["prices"]), record["prices"]
    newest = rows[-1]["from"] or ""
    rows += [row for row in fresh if row["from"] and row["from"] > newest]
    now = current(fresh, on)
    _complete(rows, now, on)
    if now and current(rows, on) != now:
        rows = [row for row in rows if (row["from"] or "") < on or row in earlier["prices"]]
        rows += [{"from": on, **now}, *(row for row in fresh if row["from"] and row["from"] > on)]
    record["prices"] = rows


def _complete(rows: list[Record], now: Record, on: str) -> None:
    """Add to the row in force the kinds of prices that the table didn't have before; what it says
    stays."""
    at = max((at for at, row in enumerate(rows) if (row["from"] or "") <= on), default=None)
    if at is not None and _only_adds(rows[at], now):
        rows[at] = {"from": rows[at]["from"], **now}


def _only_adds(old: Record, now: Record) -> bool:
    """Whether *now* says all that *old* says, and otherwise only kinds of prices that came to the
    table later."""
    old_tiers = old.get("tiers", [])
    now_tiers = now.get("tiers", [])
    if len(old_tiers) != len(now_tiers):
        return False
    if not all(_only_adds(*pair) for pair in zip(old_tiers, now_tiers, strict=True)):
        return False
    old_prices = {key: value for key, value in old.items() if key not in ("from", "tiers")}
    is_same = all(now.get(key) == value for key, value in old_prices.items())
    return is_same and set(now) - set(old_prices) <= {*EXTRAS, "services", "tiers"}


def fill_windows(records: dict[str, Record]) -> None:
    """Give a record without a window the one of the same model elsewhere, and say in ``window_of``
    whose it is.

    The same goes for the longest answer, and ``max_output_of``.
    """
    known = {name.lower(): name for name, record in records.items() if "context_window" in record}
    known = {key.removesuffix("-latest"): name for key, name in known.items()} | known
    for name, record in records.items():
        if "context_window" in record:
            continue
        same = next((known[key] for key, _ in spellings(name.lower()) if key in known), None)
        if same and records[same]["encoding"] == record["encoding"]:
            borrowed: Record = {
                size: records[same][size] for size in SIZES if size in records[same]
            }
            record |= {
                **borrowed,
                **{size: record[size] for size in borrowed if size in record},
                "window_of": same,
            }
    answers = {key: name for key, name in known.items() if "max_output" in records[name]}
    for name, record in records.items():
        if (
            "max_output" in record
            or "context_window" not in record
            or record["mode"] == "embedding"
        ):
            continue
        same = next((answers[key] for key, _ in spellings(name.lower()) if key in answers), None)
        if same and records[same]["encoding"] == record["encoding"]:
            most = min(records[same]["max_output"], record["context_window"])
            record |= {"max_output": most, "max_output_of": same}


def build(
    litellm: Mapping[str, Mapping[str, Any]],
    providers: Iterable[Any],
    earlier: Mapping[str, Record],
    on: str,
) -> tuple[dict[str, Record], list[tuple[str, ...]]]:
    """Build every record, and the list of disagreements: name, field, litellm's value,
    genai-prices' value, winner."""
    rules = {(r[0], int(r[1]), int(r[2])): (int(r[3]), int(r[4])) for r in rule_rows("windows.tsv")}
    records = {
        n: litellm_record(n, e, rules)
        for n, e in litellm.items()
        if e.get("mode") in MODES and n.isprintable()
    }
    services = {name: litellm_services(litellm[name]) for name in records}
    disagreements: list[tuple[str, ...]] = []
    for provider in providers:
        prefix, filed_under = GENAI_PROVIDERS.get(provider.id, (f"{provider.id}/", (provider.id,)))
        for name, record in list(records.items()) if provider.id in GENAI_PROVIDERS else ():
            bare = name.removeprefix(prefix or f"{record['provider']}/")
            if (
                record["provider"] in filed_under
                and record["source"] == "litellm"
                and (model := provider.find_model(bare))
            ):
                is_same = model.id.lower() == bare.lower()
                found = merge_prices(record, model, is_same, on)
                disagreements += [(name, *each) for each in found]
                if is_same and record["source"] != "litellm" and not found:
                    services[name] = genai_services(model, on) | services[name]
        taken = {name.lower() for name in records}
        for model in provider.models:
            foreign = provider.id == "google" and not model.id.startswith("gem")
            own = f"google/{model.id}" if foreign else prefix + model.id
            name = own.lower() if provider.id == "zai" else own
            if (
                name.lower() not in taken
                and is_charged_by_tokens(name, model)
                and name[-1].isalnum()
                and name.isprintable()
            ):
                records[name] = genai_record(provider.id if foreign else filed_under[0], model)
                services[name] = genai_services(model, on)
    for name, record in records.items():
        add_services(record, services[name], on)
    correct_sizes(records)
    fill_windows(records)
    records = {n: r for n, r in records.items() if r["prices"] or "context_window" in r}
    correct_prices(records)
    correct_prices(earlier)
    for name, record in records.items():
        keep_history(record, earlier.get(name), on)
    gone = {name: record for name, record in earlier.items() if name not in records}
    return dict(sorted({**records, **gone}.items())), sorted(disagreements)


def correct_sizes(records: Mapping[str, Record]) -> None:
    """Write the sizes of ``corrections.tsv`` into *records*."""
    for name, field, value, *_ in rule_rows("corrections.tsv"):
        if name in records and field in SIZES:
            records[name][field] = int(value)


def correct_prices(records: Mapping[str, Record]) -> None:
    """Take the prices that ``corrections.tsv`` calls another model's out of *records*: they were
    never in force."""
    for name, field, value, *_ in rule_rows("corrections.tsv"):
        if name not in records or field in SIZES:
            continue
        if value != "-" or field not in ("prices", *PRICES):
            sys.exit(
                f"build_models: corrections.tsv can only remove prices, not set {field} of {name}"
            )
        rows = [] if field == "prices" else records[name]["prices"]
        records[name]["prices"] = [_without_field(row, field) for row in rows]


def _without_field(row: Record, field: str) -> Record:
    """Return *row* without the price called *field*, in its tiers too."""
    short = {key: value for key, value in row.items() if key != field}
    if "tiers" in short:
        short["tiers"] = [_without_field(tier, field) for tier in short["tiers"]]
    return short


def rule_rows(name: str) -> list[list[str]]:
    """Return the rows of one of the rule files next to the table."""
    lines = (DATA / name).read_text(encoding="utf-8").split("\n")
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def models_json(header: Mapping[str, Any], records: Mapping[str, Record]) -> bytes:
    """Write the full table: a header, then one model per line."""
    lines = [
        f"{json.dumps(name)}: {json.dumps(record, separators=(',', ':'))}"
        for name, record in records.items()
    ]
    body = ",\n".join(lines)
    full = {
        **header,
        "models": len(records),
        "sha256": {**header["sha256"], "body": _sha256(body.encode())},
    }
    return f'{{"header": {json.dumps(full, indent=1)},\n"models": {{\n{body}\n}}}}\n'.encode()


def other_names(providers: Iterable[Any], records: Mapping[str, Record]) -> list[tuple[str, str]]:
    """Return other names of models: those that genai-prices gives, and a maker's own without its
    prefix."""
    found = []
    by_key = {name.lower(): name for name in records}
    for provider in providers:
        prefix, _ = GENAI_PROVIDERS.get(provider.id, (f"{provider.id}/", ()))
        for model in provider.models:
            name = by_key.get((prefix + model.id).lower())
            equal = [clause.equals for clause in _clauses(model.match) if hasattr(clause, "equals")]
            found += [((prefix + each).lower(), name) for each in equal if name]
    short = [
        (key.partition("/")[2], name)
        for key, name in [*by_key.items(), *found]
        if key.startswith(MAKERS)
    ]
    return [*found, *((key, name) for key, name in short if "/" not in key)]


def _clauses(clause: Any) -> Iterable[Any]:
    yield clause
    for inner in getattr(clause, "or_", ()):
        yield from _clauses(inner)


def index_tsv(records: Mapping[str, Record], others: Iterable[tuple[str, str]] = ()) -> bytes:
    """Write the light table: key, tokenizer, window, max input, max output, and the name if the key
    is not it.

    Aliases are rows like others, and so are names without their ``-latest``; the prefix of a family
    is a row whose key begins with ``~``. Sorted by the bytes of the key, because the reader
    searches by halves.
    """
    keys = {name.lower(): name for name in reversed(list(records))}
    stems = [
        (key.removesuffix("-latest"), name) for key, name in keys.items() if key.endswith("-latest")
    ]
    aliases = [pair for pair in others if pair[0].isprintable() and pair[0][:1] not in ("~", "#")]
    for alias, target in [
        *rule_rows("aliases.tsv"),
        *sorted(pair for pair in stems if "-" in pair[0]),
        *aliases,
    ]:
        keys.setdefault(alias, target)
    keys |= {
        f"~{prefix}": target for prefix, target in rule_rows("families.tsv") if target in records
    }
    lines = []
    for key, name in sorted((key, name) for key, name in keys.items() if name in records):
        record = records[name]
        sizes = [str(record.get(size, 0)) for size in SIZES]
        lines.append("\t".join([key, record["encoding"], *sizes, "" if name == key else name]))
    return (
        "\n".join(["#key\tencoding\tcontext_window\tmax_input\tmax_output\tname", *lines]) + "\n"
    ).encode()


def litellm_registry(wheel: Path | None) -> tuple[str, bytes]:
    """Return the version of litellm and its registry: out of *wheel*, or out of the installed
    package."""
    if wheel:
        with zipfile.ZipFile(wheel) as files:
            return wheel.name.split("-")[1], files.read(f"litellm/{REGISTRY}")
    spec = find_spec("litellm")
    if not (spec and spec.origin):
        sys.exit("build_models: litellm isn't installed; name its wheel with --litellm")
    return metadata.version("litellm"), (Path(spec.origin).parent / REGISTRY).read_bytes()


def outputs(on: str, litellm_version: str, registry: bytes) -> dict[str, bytes]:
    """Build every file, from the two registries and the table that is there."""
    from genai_prices.data import providers

    prices = find_spec("genai_prices")
    if not (prices and prices.origin):
        sys.exit("build_models: genai-prices must be installed")
    earlier_file = DATA / "models.json"
    earlier = json.loads(earlier_file.read_bytes())["models"] if earlier_file.exists() else {}
    records, disagreements = build(json.loads(registry), providers, earlier, on)
    index = index_tsv(records, other_names(providers, records))
    versions = {"litellm": litellm_version, "genai-prices": metadata.version("genai-prices")}
    sources = [
        {"name": name, "version": version, "licence": "MIT"} for name, version in versions.items()
    ]
    inputs = {
        "litellm": registry,
        "genai-prices": (Path(prices.origin).parent / "data.py").read_bytes(),
    }
    header = {
        "built": on,
        "sources": sources,
        "unit": "USD per million tokens",
        "sha256": {name: _sha256(content) for name, content in {**inputs, "index": index}.items()},
    }
    told = "".join("\t".join(row) + "\n" for row in disagreements)
    return {
        "models.json": models_json(header, records),
        "index.tsv": index,
        "disagreements.tsv": f"#name\tfield\tlitellm\tgenai-prices\twon\n{told}".encode(),
    }


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def main() -> None:
    """Build the files, or with ``--check`` compare them with those that are there."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--date", help="the build date; today by default")
    parser.add_argument(
        "--litellm",
        type=Path,
        metavar="WHEEL",
        help="litellm's wheel; the installed one by default",
    )
    parser.add_argument(
        "--check", action="store_true", help="change nothing; fail if a rebuild would differ"
    )
    options = parser.parse_args()
    on = options.date or datetime.combine(date.today(), time()).date().isoformat()
    version, registry = litellm_registry(options.litellm)
    if options.check:
        header = json.loads((DATA / "models.json").read_bytes())["header"]
        on = header["built"]
        built_from = header["sources"][0]["version"]
        if version != built_from:
            sys.exit(f"build_models: the table was built from litellm {built_from}, not {version}")
    built = outputs(date.fromisoformat(on).isoformat(), version, registry)
    differing = [
        name
        for name, content in built.items()
        if options.check and (DATA / name).read_bytes() != content
    ]
    if differing:
        sys.exit(f"build_models: a rebuild differs: {', '.join(differing)}")
    for name, content in built.items():
        if not options.check:
            (DATA / name).write_bytes(content)
        print(f"{name}: {len(content):,} bytes")


if __name__ == "__main__":
    main()
