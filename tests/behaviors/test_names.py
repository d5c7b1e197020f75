from __future__ import annotations

import pytest
from hypothesis import given

from brim.behaviors.names import LONGEST, as_name, as_tag, checked_name, checked_tags
from brim.errors import InputError
from tests.texts import ANY_TEXT


@pytest.mark.parametrize("name", ["a", "use-uv", "v1.2_x/Y", "x" * LONGEST])
def test_name_is_kept(name: str) -> None:
    assert checked_name(name) == name


@pytest.mark.parametrize("name", ["", " ", "a b", "a\n", "é", "x" * (LONGEST + 1), "a:b", "规则"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="a name has"):
        checked_name(name)


def test_tags_are_kept_once_in_their_order() -> None:
    assert checked_tags(["b", "a", "b"]) == ("b", "a")


@pytest.mark.parametrize("tags", [["a/b"], [""], ["a b"], [1], "python"])
def test_what_are_no_tags_is_refused(tags: list[str]) -> None:
    with pytest.raises(InputError, match="tag"):
        checked_tags(tags)


@given(ANY_TEXT)
def test_any_text_has_a_nearest_name_and_tag(text: str) -> None:
    assert checked_name(as_name(text)) == as_name(text)
    assert as_name(as_name(text)) == as_name(text)
    tag = as_tag(text)
    assert not tag or checked_tags([tag]) == (tag,)
