from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from brim.memory import extract_text
from brim.memory.entries import LONGEST_OUTPUT, draft, first_error, stored

KEY = "sk-abcdefghijklmnopqrstuvwx1234"


def test_secrets_are_masked_in_every_field() -> None:
    entry = draft("command", f"curl -H {KEY}", refs={"outcome": KEY, "output": KEY, "rule": KEY})
    assert KEY not in repr(entry)
    assert "[masked" in entry.text


def test_a_secret_that_colours_or_invisible_characters_split_is_masked() -> None:
    assert KEY not in draft("human", f"my key \x1b[1m{KEY[:9]}\x1b[0m{KEY[9:]}").text
    assert KEY not in draft("human", f"my key {KEY[:9]}\u200b{KEY[9:]}").text


def test_a_line_inside_a_private_key_is_never_picked_as_the_error() -> None:
    block = (
        "-----BEGIN RSA PRIVATE KEY-----\n"
        + "ERRORabcdefghijklmnopq\n" * 4
        + "-----END RSA PRIVATE KEY-----\nerror: bad"
    )
    assert first_error(block) == "error: bad"


def test_what_a_person_typed_is_kept_whole_and_what_a_tool_printed_is_not() -> None:
    long = "word " * 50_000
    assert draft("human", long).text == long
    assert (
        len(draft("command", "x", refs={"outcome": "failed", "output": long}).refs["output"])
        <= LONGEST_OUTPUT
    )


def test_the_same_event_has_the_same_id_and_another_has_not() -> None:
    ids = [
        draft("human", "go", session=s, source=e).id
        for s, e in (("s", "1"), ("s", "1"), ("s", "2"), ("t", "1"))
    ]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3
    assert draft("human", "go").id == ""


def test_tool_text_is_one_line() -> None:
    assert stored("a\r\nb\u2028c") == "a b c"


def test_the_first_line_that_says_what_went_wrong_is_found() -> None:
    traceback = (
        'Traceback (most recent call last):\n  File "a.py", line 1\nValueError: invalid literal'
    )
    assert first_error(traceback) == "ValueError: invalid literal"
    assert (
        first_error("Exit code 1\nok so far\nfatal: no repository\nerror: two")
        == "fatal: no repository"
    )
    assert first_error("Exit code 3\nhm\nha") == "hm"
    assert first_error("") == ""


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["type", "text", "content", "x"]), inner)
    ),
    max_leaves=12,
)


def test_a_string_is_itself() -> None:
    assert extract_text("Fix it") == "Fix it"


def test_of_a_list_of_blocks_the_text_blocks_count() -> None:
    blocks = [
        {"type": "text", "text": "a"},
        {"type": "tool_result", "text": "no"},
        "b",
        {"type": "text", "text": "c"},
    ]
    assert extract_text(blocks) == "a\nb\nc"


def test_what_has_no_text_is_empty() -> None:
    assert [
        extract_text(value) for value in (None, 3, {}, [], [None], {"type": "image", "text": "x"})
    ] == [""] * 6


@given(JSON)
def test_it_never_raises(content: object) -> None:
    assert isinstance(extract_text(content), str)
