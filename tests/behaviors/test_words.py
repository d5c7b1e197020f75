from __future__ import annotations

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings

from brim.behaviors.words import HEAD, TAIL, behavior_words, language_spoken, stem, tokens, words_of
from brim.store.rows import INDEX_VERSION
from tests.texts import ANY_TEXT


@pytest.mark.parametrize(
    "forms",
    [
        "test tests testing tested tester",
        "policy policies",
        "cookie cookies",
        "cache caches caching cached",
        "type types typed typing",
        "run runs running ran",
        "install installs installing installed installation",
        "cancel cancels cancelled cancelling",
        "migrate migrates migrating migration migrations",
        "configure configuration config configured",
        "format formats formatting formatted formatter",
        "lint linter linting linters",
        "deploy deploys deploying deployment deployments",
        "document docs documentation documenting documents",
        "database databases db",
        "dependency dependencies deps",
        "process processes processing",
        "write writes writing written wrote",
        "build builds building built",
    ],
)
def test_forms_of_a_word_have_one_stem(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1


@pytest.mark.parametrize(
    "words",
    [
        "product production",
        "custom customer",
        "form format",
        "state station",
        "http https",
        "string str",
        "pip pipe",
    ],
)
def test_different_words_have_different_stems(words: str) -> None:
    assert len({stem(word) for word in words.split()}) == len(words.split())


@pytest.mark.parametrize(
    "word",
    ["uv", "ci", "css", "redis", "status", "api", "king", "string", "thing", "need", "py311"],
)
def test_short_words_and_words_that_only_look_like_forms_stay(word: str) -> None:
    assert stem(word) == word


def test_name_matches_a_prompt_that_speaks_of_it_and_no_other() -> None:
    words = behavior_words("use-uv", ())
    assert words & words_of("Install it with uv, please")
    assert not words & words_of("Please use this file")


def test_tags_and_name_words_count_alike() -> None:
    assert behavior_words("pin/versions.v2", ("python", "code-style")) >= {"pin", "python", "styl"}


def test_stop_words_single_letters_and_numbers_say_nothing() -> None:
    assert (
        words_of("Please don't make it use the file x of 3 or 2024, and I'm not sure we should")
        == frozenset()
    )


def test_languages_with_signs_in_their_names_are_words() -> None:
    assert tokens("C++, C# and vec++") == ["cpp", "csharp", "and", "vec"]


def test_words_of_other_scripts_are_found_between_characters_without_spaces() -> None:
    assert {"uv", "安装"} <= words_of("请使用uv安装依赖")
    assert words_of("ユニットテスト") & words_of("テストを書く")
    assert words_of("테스트를") & words_of("테스트")


def test_spellings_of_one_letter_are_one() -> None:
    assert words_of("cafe\u0301") == words_of("CAFÉ")
    assert words_of("Straße") == words_of("STRASSE")


def test_only_head_and_tail_of_a_long_text_are_looked_at() -> None:
    text = "alpha " + "x " * HEAD + "beta " + "x " * TAIL + "gamma"
    assert words_of(text) == {"alpha", "gamma"}


@settings(deadline=None)
@given(ANY_TEXT)
def test_any_text_has_words_whatever_its_case(text: str) -> None:
    found = words_of(text)
    assert all(word and word == word.strip() and not word.isspace() for word in found)
    if text.isascii():
        assert words_of(text.upper()) == found
    assert words_of(text + "\n") == found


@settings(deadline=None)
@given(ANY_TEXT, ANY_TEXT)
def test_words_of_two_texts_are_those_of_both(a: str, b: str) -> None:
    together = f"{a}\n{b}"
    if len({language_spoken(tokens(text)) for text in (a, b, together)}) == 1:
        assert words_of(together) == words_of(a) | words_of(b)


def test_words_import_nothing_heavy() -> None:
    code = "import sys; before = set(sys.modules); from brim.behaviors.words import words_of; words_of('Tests with uv')"
    done = subprocess.run(
        [sys.executable, "-I", "-c", code + "; print(*(set(sys.modules) - before))"],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert not {"json", "pathlib"} & set(done.stdout.split())


def test_the_stems_of_the_stop_words_are_those_in_the_file() -> None:
    """If this fails, write these to ``data/stop_stems.txt``."""
    from brim.behaviors.words import word_list

    assert word_list("stop_stems.txt") == frozenset(map(stem, word_list("stopwords.txt")))


def test_words_that_are_read_in_another_way_have_another_index() -> None:
    """If this fails, raise ``INDEX_VERSION``: stored rules are indexed again. Then put the new
    digest here."""
    texts = (
        Path("LICENSE").read_text(encoding="utf-8"),
        "Größe prüfen",
        "écris les tests",
        "不要提交生成的文件",
    )
    found = [" ".join(sorted(map(str, words_of(text)))) for text in texts]
    assert (INDEX_VERSION, sha256("\n".join(found).encode()).hexdigest()[:8]) == ("5", "35d43638")
