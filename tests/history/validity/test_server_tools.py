"""Anthropic's own tools: call and result in one turn, which goes on while other calls are answered."""

from __future__ import annotations

from typing import Any

from tests.history.validity.test_anthropic import HELLO, NOTE, assistant, found, result, text, use, user

SEARCH: dict[str, Any] = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND: dict[str, Any] = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


def test_server_result_has_call_accepts_both_in_one_turn() -> None:
    assert found(HELLO, assistant(text("Hm."), SEARCH, FOUND, text("There."))) == []
    assert found(HELLO, assistant(SEARCH), assistant(FOUND)) == []


def test_server_result_has_call_refuses_a_result_alone_or_first() -> None:
    assert found(HELLO, assistant(FOUND)) == [(1, "server-result-has-call")]
    assert found(HELLO, assistant(FOUND, SEARCH), HELLO) == [(1, "server-result-has-call")]
    broken = found(HELLO, assistant(SEARCH), HELLO, assistant(FOUND))
    assert broken == [(1, "server-call-has-result"), (3, "server-result-has-call")]


def test_server_call_has_result_when_the_turn_is_over() -> None:
    assert found(HELLO, assistant(SEARCH), HELLO) == [(1, "server-call-has-result")]
    assert found(HELLO, assistant(SEARCH, FOUND), HELLO) == []


def test_server_call_has_result_may_wait_while_the_turn_goes_on() -> None:
    step = (assistant(SEARCH, use("a")), user(result("a")))
    assert found(HELLO, assistant(SEARCH)) == []
    assert found(HELLO, assistant(SEARCH), NOTE) == []
    assert found(HELLO, *step) == []
    assert found(HELLO, *step, assistant(FOUND, text("There.")), HELLO) == []
    assert found(HELLO, step[0], user(result("a"), text("Go on."))) == [(1, "server-call-has-result")]


def test_a_call_may_stand_before_one_of_the_providers_own() -> None:
    assert found(HELLO, assistant(use("a"), SEARCH), user(result("a"))) == []


def test_a_remote_server_is_a_tool_of_the_providers_own() -> None:
    asked = {"type": "mcp_tool_use", "id": "mcptoolu_1", "name": "read", "server_name": "files", "input": {}}
    answer = {"type": "mcp_tool_result", "tool_use_id": "mcptoolu_1", "content": []}
    assert found(HELLO, assistant(asked, answer), HELLO) == []
    assert found(HELLO, assistant(answer), HELLO) == [(1, "server-result-has-call")]
    assert found(HELLO, assistant(asked), HELLO) == [(1, "server-call-has-result")]
