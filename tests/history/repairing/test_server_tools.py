"""Repairing calls of Anthropic's own tools."""

from __future__ import annotations

from functools import partial

from tests.history.repairing.mending import mended
from tests.history.validity.test_anthropic import HELLO, assistant, result, text, use, user
from tests.history.validity.test_server_tools import FOUND, SEARCH

mend = partial(mended, "anthropic")


def test_a_result_without_its_call_is_removed() -> None:
    messages, changes = mend(HELLO, assistant(FOUND, text("There.")))
    assert messages == [HELLO, assistant(text("There."))]
    assert changes == [(1, "server-result-has-call", "removed")]


def test_a_result_without_its_call_can_get_it_back() -> None:
    messages, changes = mend(HELLO, assistant(FOUND), restore_calls=True)
    assert messages == [HELLO, assistant(SEARCH, FOUND)]
    assert changes == [(1, "server-result-has-call", "added")]
    answer = {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "content": []}
    assert mend(HELLO, assistant(answer), restore_calls=True)[0][1]["content"][0]["type"] == "mcp_tool_use"


def test_a_call_whose_turn_is_over_gets_an_error_as_its_result() -> None:
    messages, changes = mend(HELLO, assistant(SEARCH), HELLO)
    error = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
    assert messages == [HELLO, assistant(SEARCH, {**FOUND, "content": error}), HELLO]
    assert changes == [(1, "server-call-has-result", "added")]
    asked = {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "read", "server_name": "files", "input": {}}
    assert mend(HELLO, assistant(asked), HELLO)[0][1]["content"][1]["is_error"] is True


def test_a_call_that_cannot_be_answered_is_removed() -> None:
    nameless = {"type": "server_tool_use", "input": {"query": "lost"}}
    messages, changes = mend(HELLO, assistant(nameless, text("Hm.")), HELLO)
    assert messages == [HELLO, assistant(text("Hm.")), HELLO]
    assert changes == [(1, "server-call-has-result", "removed")]


def test_a_call_whose_turn_goes_on_waits() -> None:
    items = (HELLO, assistant(SEARCH, use("a")), user(result("a")))
    assert mend(*items) == (list(items), [])
