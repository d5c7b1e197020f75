"""Whatever an agent sends about a call, it has a kind, files and texts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.agents import AGENTS, agent_named
from brim.agents.call import BEGIN, Tools
from tests.agents.mutated import ANYTHING

KEYS = st.sampled_from(
    ["file_path", "path", "paths", "command", "cmd", "edits", "patch", "input", "content"]
)
PATCH = f"""{BEGIN}
*** Update File: src/old.py
*** Move to: src/new.py
@@
-import os
+import pathlib
*** Add File: docs/a.md
+# A
*** End Patch"""


@given(st.sampled_from(AGENTS), st.text(max_size=20), st.dictionaries(KEYS, ANYTHING))
def test_no_input_of_a_tool_raises(agent: str, name: str, sent: dict[str, Any]) -> None:
    tools = agent_named(agent).tools
    for tool in (name, *" ".join(tools.names.values()).split()):
        call = tools.call(tool, sent)
        texts = (call.command, call.text, call.replaced, call.patch)
        assert all(isinstance(text, str) for text in (*texts, *call.files, *call.moved))
        assert not call.command or call.kind == "shell"


@given(st.sampled_from(AGENTS), st.dictionaries(st.text(max_size=20), ANYTHING))
def test_no_message_of_an_event_raises(agent: str, sent: dict[str, Any]) -> None:
    value = agent_named(agent)
    for name in value.events:
        call = value.read(name, sent, {})
        assert call is not None
        assert call.agent is value
        assert call.data is sent


def test_a_patch_names_its_files_and_texts() -> None:
    call = agent_named("codex").tools.call("apply_patch", {"command": PATCH})
    assert call.files == ("src/new.py", "docs/a.md")
    assert call.moved == ("src/old.py",)
    assert call.text == "import pathlib\n# A"
    assert call.replaced == "import os"
    assert call.command == ""


def test_several_edits_are_one_text() -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": "d"}]
    call = agent_named("claude").tools.call("MultiEdit", {"file_path": "x.py", "edits": edits})
    assert (call.text, call.replaced) == ("b\nd", "a\nc")


@pytest.mark.parametrize(
    ("agent", "name", "sent"),
    [
        ("claude", "Edit", {"file_path": "a.py"}),
        ("gemini", "replace", {"absolute_path": "a.py"}),
        ("opencode", "edit", {"filePath": "a.py"}),
        ("codex", "apply_patch", {"input": f"{BEGIN}\n*** Delete File: a.py\n*** End Patch"}),
    ],
)
def test_a_changed_file_is_known_whatever_its_key(
    agent: str, name: str, sent: dict[str, str]
) -> None:
    call = agent_named(agent).tools.call(name, sent)
    assert call.changes_files
    assert call.files == ("a.py",)


def test_a_command_given_as_a_list_keeps_its_words() -> None:
    call = Tools({"shell": "do"}).call("do", {"command": ["git", "commit", "-m", "a; b"]})
    assert call.words == ("git", "commit", "-m", "a; b")
    assert call.command == "git commit -m a; b"
