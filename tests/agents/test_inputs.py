from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from brim.agents.call import arguments, command_line, normalized
from tests.agents.mutated import ANYTHING


def test_arguments_are_an_object_its_json_text_or_a_text() -> None:
    assert arguments({"a": 1}) == {"a": 1}
    assert arguments('{"a": 1}') == {"a": 1}
    assert arguments("const x = 1") == {"input": "const x = 1"}
    assert arguments("[1]") == {"input": "[1]"}
    assert arguments("") == arguments(None) == arguments(3) == {}
    assert arguments("[" * 100_000)["input"].startswith("[[")


def test_the_clients_own_keys_stay() -> None:
    assert normalized("edit", {"filePath": "a.py", "oldString": "x"}) == {
        "filePath": "a.py",
        "oldString": "x",
        "file_path": "a.py",
        "old_string": "x",
    }
    assert normalized("search", {"path": "src"}) == {"path": "src"}


def test_a_command_is_what_the_shell_was_given() -> None:
    assert command_line("make test") == "make test"
    assert command_line(["/usr/bin/zsh", "-lc", "make test"]) == "make test"
    assert command_line(["git", "commit", "-m", "x"]) == "git commit -m x"
    assert command_line(["bash", "run.sh", "now"]) == "bash run.sh now"
    assert command_line([1, "ls"]) == "ls"
    assert command_line(None) == ""


def test_todos_have_content_and_status_whatever_their_client_calls_them() -> None:
    assert normalized("todo", {"todos": [{"description": "a", "status": "pending"}]})["todos"] == [
        {"content": "a", "status": "pending"}
    ]
    assert normalized("todo", {"plan": [{"step": "a", "status": "in_progress"}, "b"]})["todos"] == [
        {"content": "a", "status": "in_progress"}
    ]
    assert normalized("todo", {"items": [{"text": "a", "completed": True}]})["todos"] == [
        {"content": "a", "status": "completed"}
    ]


@given(
    st.sampled_from(["shell", "read", "write", "edit", "todo", ""]),
    st.dictionaries(st.text(max_size=9), ANYTHING),
)
def test_whatever_was_given_is_kept(tool: str, given_: dict[str, object]) -> None:
    known = normalized(tool, given_)
    renamed = {"command", "todos"}
    assert {key: known[key] for key in given_ if key not in renamed}.keys() == {
        k for k in given_ if k not in renamed
    }
    assert normalized(tool, arguments(json.dumps(given_, default=str))) is not None
