"""The stems by which a situation and a rule find each other."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.rules.rule import contains_must
from brim.rules.stems import stem, stems_of, words_of

FORMS = [
    "test tests testing tested",
    "commit commits committing committed",
    "migrate migrates migrating migration migrations",
    "policy policies",
    "install installs installing installed installer",
    "release releases releasing released",
    "class classes",
    "dependency dependencies",
    "format formats formatting formatted formatter",
    "deploy deploys deploying deployed deployment",
    "cache caches caching cached",
    "closure closures",
]


@pytest.mark.parametrize("forms", FORMS)
def test_the_forms_of_a_word_meet(forms: str) -> None:
    assert len({stem(word) for word in forms.split()}) == 1, [stem(w) for w in forms.split()]


def test_different_words_do_not_meet() -> None:
    words = ["string", "strict", "bus", "business", "thing", "king", "rust", "trust", "use", "user"]
    assert len({stem(word) for word in words}) == len(words)


def test_names_in_code_are_taken_apart() -> None:
    assert words_of("src/http_client/parseHeader.test.ts") == [
        *("src", "http", "client", "parse", "header", "test", "ts")
    ]


@given(st.text())
def test_any_text_has_stems(text: str) -> None:
    assert all(stems_of(text))


@pytest.mark.parametrize(
    "text",
    ["Never push", "Du darfst nur uv nutzen", "N'utilise jamais npm", "必须使用 uv", "uv only"],
)
def test_musts_in_several_languages(text: str) -> None:
    assert contains_must(text)


@pytest.mark.parametrize("text", ["Prefer uv", "Mustard is yellow", "Use pnpm", "Neverland"])
def test_what_is_no_must(text: str) -> None:
    assert not contains_must(text)
