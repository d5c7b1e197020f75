"""Anything that can stand in a list of messages, with the words of the formats in wrong places."""

from __future__ import annotations

from hypothesis import strategies as st

FIELDS = (
    *(
        "role",
        "content",
        "type",
        "id",
        "parts",
        "text",
        "tool_calls",
        "call_id",
        "output",
        "tool_use_id",
        "name",
    ),
    *("functionCall", "functionResponse", "tool_call_id", "function_call", "function"),
)
WORDS = (
    *(
        "user",
        "assistant",
        "model",
        "tool",
        "system",
        "function",
        "tool_use",
        "tool_result",
        "text",
        "thinking",
        "a",
    ),
    *(
        "function_call",
        "function_call_output",
        "reasoning",
        "server_tool_use",
        "web_search_tool_result",
    ),
)
JUNK = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.text(max_size=5),
        st.binary(max_size=3),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(
            st.sampled_from(FIELDS), st.one_of(st.sampled_from(WORDS), inner), max_size=5
        ),
    ),
    max_leaves=12,
)
