from __future__ import annotations

import pytest
from hypothesis import given

from brim.rules.kinds import infer_kind
from brim.rules.library_rule import BehaviorKind
from tests.texts import ANY_TEXT


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Never push to main", "constraint"),
        ("**Never** push", "constraint"),
        ("Please don't use print", "constraint"),
        ("Don’t use print", "constraint"),
        ("You must not edit generated files", "constraint"),
        ("Files under gen/ must never be edited", "constraint"),
        ("Use uv. Do not use pip.", "constraint"),
        ("When tests fail, never push", "constraint"),
        ("Only merge green branches", "constraint"),
        ("1. Never skip a step\n2. Push", "constraint"),
        ("不要使用 pip", "constraint"),
        ("Niemals auf main pushen", "constraint"),
        ("N'utilise jamais pip", "constraint"),
        ("パスワードをログに書かないでください", "constraint"),
        ("Никогда не пиши в main", "constraint"),
        ("Prefer dataclasses over dicts", "preference"),
        ("I'd rather have short functions", "preference"),
        ("Avoid global state", "preference"),
        ("1. Run the tests\n2. Never mind warnings\n3. Push", "procedure"),
        ("First lint, then test", "procedure"),
        ("If the build fails, read the log and retry", "workflow"),
        ("When a release is tagged, then announce it", "workflow"),
        ("We tried redis and it was slow", "episodic"),
        ("Use uv, not pip", "directive"),
        ("Use UTC; local time never works", "directive"),
        ("Use the `only` marker", "directive"),
        ("Add type hints", "directive"),
    ],
)
def test_kind_of_a_correction(text: str, kind: str) -> None:
    assert infer_kind(text) == kind


def test_what_was_wrong_makes_no_episode() -> None:
    assert infer_kind("Last time it took an hour", "sleep 3600") is BehaviorKind.DIRECTIVE


@given(ANY_TEXT)
def test_every_text_has_a_kind(text: str) -> None:
    assert infer_kind(text) in BehaviorKind
