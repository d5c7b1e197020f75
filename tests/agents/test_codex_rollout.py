from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from brim.agents.call import Event, ToolCall
from brim.agents.codex.transcript import CodexRolloutReader
from brim.agents.events import (
    Compaction,
    End,
    Message,
    ModelSeen,
    RunTotal,
    StateSeen,
    ToolResult,
    Usage,
)
from tests.agents.mutated import is_sound, mutated, read

THREAD = "019a0000-0000-7000-8000-000000000010"
PARENT = "019a0000-0000-7000-8000-000000000001"
OLD_TURN = "019a0000-0000-7000-8000-000000000002"
OWN_TURN = "019a0000-0000-7000-8000-000000000020"


def line(kind: str, payload: dict[str, Any], second: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "timestamp": f"2026-03-01T10:00:{second:02d}.000Z",
        "type": kind,
        "payload": payload,
        **more,
    }


def note(kind: str, second: int = 0, **payload: Any) -> dict[str, Any]:
    return line("event_msg", {"type": kind, **payload}, second)


def meta(thread: str = THREAD, **payload: Any) -> dict[str, Any]:
    return line(
        "session_meta",
        {"id": thread, "cwd": "/home/user/project", "cli_version": "0.166.0", **payload},
    )


def usage(prompt: int, cached: int = 0, output: int = 0) -> dict[str, int]:
    total = prompt + output
    return {
        "input_tokens": prompt,
        "cached_input_tokens": cached,
        "output_tokens": output,
        "total_tokens": total,
    }


def record(response: str, used: dict[str, int], thread: str = THREAD) -> dict[str, Any]:
    return line("token_usage_record", {"thread_id": thread, "response_id": response, "usage": used})


def counted(
    total: dict[str, int], last: dict[str, int], window: int = 258_400, second: int = 0
) -> dict[str, Any]:
    info = {"total_token_usage": total, "last_token_usage": last, "model_context_window": window}
    return note("token_count", second, info=info)


def turn(model: str = "gpt-5.5-codex", turn_id: str = OWN_TURN, **payload: Any) -> dict[str, Any]:
    return line(
        "turn_context", {"turn_id": turn_id, "model": model, "approval_policy": "never", **payload}
    )


def item(kind: str, **payload: Any) -> dict[str, Any]:
    return line("response_item", {"type": kind, **payload})


def said(role: str, words: str, **payload: Any) -> dict[str, Any]:
    return item("message", role=role, content=[{"type": "input_text", "text": words}], **payload)


def answer(call: str, output: object, kind: str = "function_call_output") -> dict[str, Any]:
    return item(kind, call_id=call, output=output)


def events(*lines: dict[str, Any]) -> list[Event]:
    return read(CodexRolloutReader(), lines)


def only(kind: type[Any], *lines: dict[str, Any]) -> list[Any]:
    return [event for event in events(*lines) if isinstance(event, kind)]


PATCH = """*** Begin Patch
*** Add File: src/new.py
+one = 1
+two = 2
*** Update File: src/old.py
@@ def f():
 def f():
-    return 1
+    return 2
*** Update File: src/here.py
*** Move to: src/there.py
*** Delete File: src/gone.py
*** End Patch
"""

SESSION = [
    meta(),
    note("task_started", turn_id=OWN_TURN, model_context_window=258_400),
    said("user", "<environment_context>\n  <cwd>/home/user/project</cwd>\n</environment_context>"),
    turn(),
    said("user", "fix the parser"),
    note("user_message", message="fix the parser"),
    said("assistant", "I look at it."),
    item("function_call", name="exec_command", call_id="c1", arguments='{"cmd": "make test"}'),
    record("resp_1", usage(1_000, 900, 20)),
    answer(
        "c1",
        "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\nmake: *** no rule\n",
    ),
    counted(usage(1_000, 900, 20), usage(1_000, 900, 20)),
    item("custom_tool_call", name="apply_patch", call_id="c2", input=PATCH),
    answer("c2", '{"output":"Success.","metadata":{"exit_code":0}}', "custom_tool_call_output"),
    line("compacted", {"message": "the summary", "replacement_history": []}),
    counted(usage(1_000, 900, 20), {"input_tokens": 0, "output_tokens": 0, "total_tokens": 300}),
    note("task_complete", last_agent_message="done"),
]


def test_every_line_of_a_rollout_is_recognised() -> None:
    assert all(CodexRolloutReader.recognises(one) for one in SESSION)
    assert not CodexRolloutReader.recognises({"type": "event_msg"})
    assert not CodexRolloutReader.recognises({"type": "user", "payload": {"a": 1}})


def test_a_request_is_told_once_under_its_response_id_and_cached_tokens_are_part_of_the_input() -> (
    None
):
    (told,) = only(Usage, *SESSION)
    assert (told.request, told.model, told.session) == ("resp_1", "gpt-5.5-codex", THREAD)
    assert (told.tokens.input, told.tokens.cache_read, told.tokens.output, told.tokens.prompt) == (
        100,
        900,
        20,
        1_000,
    )


def test_a_record_that_is_repeated_counts_once_and_with_other_numbers_again() -> None:
    same = record("resp_1", usage(10, 0, 1))
    assert len(only(Usage, meta(), same, same)) == 1
    assert [
        told.tokens.output for told in only(Usage, meta(), same, record("resp_1", usage(10, 0, 5)))
    ] == [1, 5]


def test_a_record_without_an_id_is_known_by_its_thread_and_the_sum_so_far() -> None:
    first = record("", usage(10, 0, 1))
    first["payload"]["thread_token_usage"] = usage(10, 0, 1)
    assert [told.request for told in only(Usage, meta(), first)] == [f"{THREAD}:11"]


def test_without_records_requests_are_what_the_sum_grew_by() -> None:
    first, second = usage(1_000, 0, 10), usage(2_500, 900, 30)
    last = usage(1_500, 900, 20)
    lines = (
        meta(),
        turn(),
        counted(first, first),
        counted(first, first),
        counted(second, last),
        counted(second, last),
    )
    told = only(Usage, *lines)
    assert [(one.tokens.prompt, one.tokens.cache_read, one.tokens.output) for one in told] == [
        (1_000, 0, 10),
        (1_500, 900, 20),
    ]
    assert len({one.request for one in told}) == 2
    assert not only(RunTotal, *lines)


def test_a_note_with_zeros_after_a_compaction_is_no_request() -> None:
    first = usage(1_000, 0, 10)
    zeros = {"input_tokens": 0, "output_tokens": 0, "total_tokens": 300}
    assert len(only(Usage, meta(), counted(first, first), counted(first, zeros))) == 1


def test_if_requests_are_missing_the_sum_is_told_as_a_total() -> None:
    lines = (meta(), turn(), counted(usage(10), usage(10)), counted(usage(100), usage(50)))
    assert [one.tokens.prompt for one in only(Usage, *lines)] == [10, 50]
    (total,) = only(RunTotal, *lines)
    assert total.tokens["gpt-5.5-codex"].prompt == 100
    assert total.usage == total.tokens["gpt-5.5-codex"]


def test_a_total_over_two_models_names_neither() -> None:
    lines = (
        meta(),
        turn("a"),
        counted(usage(10), usage(10)),
        turn("b"),
        counted(usage(30), usage(20)),
        counted(usage(90), usage(30)),
    )
    (total,) = only(RunTotal, *lines)
    assert total.tokens == {}
    assert total.usage.prompt == 90


def test_the_first_sum_of_a_file_is_only_where_it_begins() -> None:
    lines = (meta(), counted(usage(9_000_000), usage(100)), counted(usage(9_000_150), usage(150)))
    assert [one.tokens.prompt for one in only(Usage, *lines)] == [100, 150]


def test_a_sum_that_shrinks_begins_anew() -> None:
    lines = (
        meta(),
        counted(usage(500), usage(500)),
        counted(usage(40), usage(40)),
        counted(usage(100), usage(60)),
    )
    assert [one.tokens.prompt for one in only(Usage, *lines)] == [500, 40, 60]


def test_notes_without_numbers_tell_nothing() -> None:
    assert events(meta(thread="x", cwd="", cli_version=""), note("token_count", info=None)) == []


def test_a_sub_agent_does_not_count_its_parents_history_again() -> None:
    """A parent of 400,000 tokens, copied with its own times; the child adds two requests."""
    source = {"subagent": {"thread_spawn": {"parent_thread_id": PARENT, "depth": 1}}}
    copied = [
        meta(PARENT),
        note("task_started", turn_id=OLD_TURN),
        turn(turn_id=OLD_TURN),
        said("user", "the parent's question"),
        note("user_message", message="the parent's question"),
        item("function_call", name="exec_command", call_id="p1", arguments='{"cmd": "ls"}'),
        counted(usage(100_000), usage(100_000)),
        counted(usage(400_000), usage(300_000)),
        line("compacted", {"message": "the parent's summary"}),
    ]
    own = [
        note("task_started", turn_id=OWN_TURN),
        turn(),
        said("user", "look for the bug"),
        counted(usage(400_700), usage(700)),
        record("resp_9", usage(800)),
    ]
    told = events(meta(source=source), *copied, *own)
    assert [one.tokens.prompt for one in told if isinstance(one, Usage)] == [700, 800]
    assert {(one.session, one.agent) for one in told} == {(PARENT, THREAD)}
    assert not [one for one in told if isinstance(one, Compaction | ToolCall)]
    assert [(one.text, one.human) for one in told if isinstance(one, Message)] == [
        ("look for the bug", False)
    ]


def test_a_fork_is_a_main_thread_and_begins_after_what_was_copied() -> None:
    copied = [
        meta(PARENT),
        turn(turn_id=OLD_TURN),
        counted(usage(5_000), usage(5_000)),
        said("user", "before"),
    ]
    own = [
        note("task_started", turn_id=OWN_TURN),
        said("user", "after"),
        counted(usage(5_300), usage(300)),
    ]
    told = events(meta(forked_from_id=PARENT), *copied, *own)
    assert [one.tokens.prompt for one in told if isinstance(one, Usage)] == [300]
    assert [(one.text, one.human) for one in told if isinstance(one, Message)] == [("after", True)]
    assert {(one.session, one.agent) for one in told} == {(THREAD, "")}


def test_a_fork_without_new_work_tells_no_request() -> None:
    copied = [
        meta(PARENT),
        turn(turn_id=OLD_TURN),
        counted(usage(5_000), usage(5_000)),
        said("user", "before"),
    ]
    assert not only(Usage, meta(forked_from_id=PARENT), *copied)


def test_in_an_old_fork_what_is_written_two_seconds_later_is_its_own() -> None:
    told = only(
        Usage,
        meta(forked_from_id=PARENT),
        counted(usage(5_000), usage(5_000), second=0),
        counted(usage(5_100), usage(100), second=9),
    )
    assert [one.tokens.prompt for one in told] == [100]


def test_a_line_that_names_the_thread_is_its_own() -> None:
    assert [
        one.request for one in only(Usage, meta(forked_from_id=PARENT), record("resp_1", usage(5)))
    ] == ["resp_1"]


def test_a_reader_that_begins_in_the_middle_takes_the_thread_from_the_lines() -> None:
    (told,) = events(record("resp_1", usage(5)))
    assert (told.session, told.agent) == (THREAD, "")


def test_model_and_window_are_told_when_they_change() -> None:
    lines = (
        meta(),
        note("task_started", model_context_window=258_400),
        turn("a"),
        turn("a"),
        counted(usage(5), usage(5), 258_400),
        note("task_started", model_context_window=400_000),
        turn("b"),
        turn("c"),
        counted(usage(9), usage(4), 128_000),
    )
    seen = [(one.model, one.window) for one in only(ModelSeen, *lines)]
    assert seen == [("a", 258_400), ("b", 400_000), ("c", 0), ("c", 128_000)]


def test_folder_version_branch_and_approval_are_told_when_they_change() -> None:
    lines = (
        meta(git={"branch": "main"}),
        turn(cwd="/home/user/project"),
        turn(cwd="/home/user/other"),
    )
    assert [(one.name, one.value) for one in only(StateSeen, *lines)] == [
        ("version", "0.166.0"),
        ("folder", "/home/user/project"),
        ("branch", "main"),
        ("permission_mode", "never"),
        ("folder", "/home/user/other"),
    ]


def test_a_compaction_says_what_was_left_as_the_count_that_follows_it() -> None:
    lines = (
        meta(),
        line("compacted", {"message": "the summary"}),
        line("world_state", {"full": True}),
        turn(),
        note("thread_settings_applied", thread_settings={"model": "gpt-5.5-codex"}),
        counted(usage(10), {"input_tokens": 0, "output_tokens": 0, "total_tokens": 6_793}),
    )
    told = events(*lines)
    assert [(one.before, one.after, one.at) for one in told if isinstance(one, Compaction)] == [
        (None, 6_793, 1)
    ]
    assert [(one.role, one.text) for one in told if isinstance(one, Message)] == [
        ("summary", "the summary")
    ]


def test_a_compaction_without_a_count_is_told_with_the_next_thing_that_happens() -> None:
    told = only(
        Compaction, meta(), line("compacted", {"message": "s"}), said("assistant", "on we go")
    )
    assert [one.after for one in told] == [None]


def test_a_compaction_at_the_end_of_a_file_is_told_by_finish() -> None:
    reader = CodexRolloutReader()
    assert not [
        one for one in read(reader, [meta(), line("compacted", {})]) if isinstance(one, Compaction)
    ]
    assert [type(one) for one in reader.finish()] == [Compaction]
    assert reader.finish() == []


def test_the_answer_to_the_compaction_request_is_not_told_beside_the_summary() -> None:
    words = line(
        "response_item",
        {"type": "message", "role": "assistant", "content": [{"text": "the summary"}]},
        metadata={"compaction_output": True},
    )
    assert not only(Message, meta(), words)
    records = [
        line(
            "token_usage_record",
            {"response_id": id, "usage": {"input_tokens": 9, "total_tokens": 9}},
        )
        for id in ("r1", "r2")
    ]
    assert [one.compacts for one in only(Usage, meta(), words, *records)] == [True, False]


def test_what_a_person_typed_is_told_once_however_often_it_is_written() -> None:
    note_of_item = note(
        "item_completed",
        item={"type": "UserMessage", "content": [{"type": "text", "text": "go on"}]},
    )
    once = (said("user", "go on"), note("user_message", message="go on"), note_of_item)
    assert [one.text for one in only(Message, meta(), *once) if one.human] == ["go on"]
    assert [one.text for one in only(Message, meta(), *once, *once) if one.human] == [
        "go on",
        "go on",
    ]


def test_only_the_note_tells_it_too() -> None:
    assert [one.human for one in only(Message, meta(), note("user_message", message="go on"))] == [
        True
    ]


def test_context_that_the_client_put_in_is_not_human() -> None:
    texts = [
        "<environment_context>\n</environment_context>",
        "<user_instructions>be brief</user_instructions>",
        "# AGENTS.md instructions for /home/user/project\n\nbe brief",
        "<turn_aborted>\n</turn_aborted>",
    ]
    assert [
        one.human for one in only(Message, meta(), *[said("user", words) for words in texts])
    ] == [False] * 4
    assert [one.human for one in only(Message, meta(), said("user", "# Heading of mine"))] == [True]


def test_what_the_client_says_of_its_source_goes_before_what_it_looks_like() -> None:
    about = {"content_item_metadata": [{"provenance": {"type": "harness"}}]}
    (told,) = only(
        Message, meta(), said("user", "fix it", internal_chat_message_metadata_passthrough=about)
    )
    assert not told.human
    about = {"content_item_metadata": [{"provenance": {"type": "user"}}]}
    (told,) = only(
        Message,
        meta(),
        said("user", "<skill> is a tag", internal_chat_message_metadata_passthrough=about),
    )
    assert told.human


def test_what_an_editor_puts_before_a_request_is_left_out() -> None:
    words = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nrename it\n"
    assert [one.text for one in only(Message, meta(), said("user", words))] == ["rename it"]


def test_developer_messages_are_the_systems() -> None:
    assert [(one.role, one.human) for one in only(Message, said("developer", "rules"))] == [
        ("system", False)
    ]


def test_a_shell_call_has_its_command_under_one_name() -> None:
    calls = only(
        ToolCall,
        item("function_call", name="exec_command", call_id="a", arguments='{"cmd": "ls -l"}'),
        item(
            "function_call",
            name="shell",
            call_id="b",
            arguments='{"command": ["bash", "-lc", "make test"]}',
        ),
        item(
            "local_shell_call", call_id="c", action={"type": "exec", "command": ["git", "status"]}
        ),
    )
    assert [(one.id, one.kind, one.input["command"]) for one in calls] == [
        ("a", "shell", "ls -l"),
        ("b", "shell", "make test"),
        ("c", "shell", "git status"),
    ]


def test_a_patch_is_one_call_and_one_result_for_each_file() -> None:
    told = events(*SESSION)
    calls = [one for one in told if isinstance(one, ToolCall) and one.name == "apply_patch"]
    assert [(one.id, one.kind, one.input["file_path"]) for one in calls] == [
        ("c2", "write", "src/new.py"),
        ("c2#2", "edit", "src/old.py"),
        ("c2#3", "edit", "src/there.py"),
        ("c2#4", "edit", "src/gone.py"),
    ]
    assert calls[0].input["content"] == "one = 1\ntwo = 2"
    assert (calls[1].input["old_string"], calls[1].input["new_string"]) == (
        "def f():\n    return 1",
        "def f():\n    return 2",
    )
    results = [one for one in told if isinstance(one, ToolResult) and one.id.startswith("c2")]
    assert [(one.id, one.text, one.error) for one in results] == [
        (id, "Success.", False) for id in ("c2", "c2#2", "c2#3", "c2#4")
    ]


def test_a_patch_in_a_shell_command_is_a_patch() -> None:
    for command in (["apply_patch", PATCH], ["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}EOF\n"]):
        calls = only(
            ToolCall,
            item("function_call", name="shell", call_id="a", arguments={"command": command}),
        )
        assert [one.input["file_path"] for one in calls] == [
            "src/new.py",
            "src/old.py",
            "src/there.py",
            "src/gone.py",
        ]
    (call,) = only(
        ToolCall,
        item("function_call", name="shell", call_id="a", arguments={"command": ["cat", PATCH]}),
    )
    assert call.kind == "shell"


def test_a_plan_is_a_list_of_todos() -> None:
    plan = '{"plan": [{"step": "read", "status": "completed"}, {"step": "write", "status": "pending"}]}'
    (call,) = only(ToolCall, item("function_call", name="update_plan", call_id="a", arguments=plan))
    assert call.kind == "todo"
    assert call.input["todos"] == [
        {"content": "read", "status": "completed"},
        {"content": "write", "status": "pending"},
    ]


def test_an_exit_code_other_than_0_is_an_error_and_its_header_is_left_out() -> None:
    headed = "Exit code: 1\nWall time: 0.2 seconds\nOutput:\nOutput: Exit code: 0\n"
    outputs = [
        headed,
        '{"output":"no","metadata":{"exit_code":3}}',
        {"content": "no", "success": False},
    ]
    told = only(ToolResult, *[answer("a", output) for output in outputs])
    assert [(one.text, one.error, one.detail) for one in told] == [
        ("Output: Exit code: 0\n", True, {"exit_code": 1}),
        ("no", True, {"exit_code": 3}),
        ("no", True, None),
    ]
    (fine,) = only(
        ToolResult, answer("a", [{"type": "input_text", "text": "Exit code: 7 is what it printed"}])
    )
    assert not fine.error


def test_a_patch_that_does_not_fit_is_an_error() -> None:
    words = (
        "apply_patch verification failed: Failed to find expected lines in /home/user/project/a.py"
    )
    (told,) = only(ToolResult, answer("a", words))
    assert (told.error, told.refusal) == (True, "")


def test_refusals_are_told_from_failures_and_from_output_that_looks_like_one() -> None:
    texts = ["exec command rejected by user", "aborted by user after 2.1s", "rejected by user"]
    told = only(ToolResult, *[answer("a", words) for words in texts])
    assert [(one.error, one.refusal) for one in told] == [
        (True, "permission"),
        (True, "interrupt"),
        (True, "permission"),
    ]
    (ran,) = only(
        ToolResult, answer("a", "Exit code: 0\nWall time: 0 seconds\nOutput:\nrejected by user\n")
    )
    assert (ran.error, ran.refusal) == (False, "")


def test_ends_and_errors_are_told() -> None:
    told = events(
        note("task_complete", last_agent_message="done"),
        note("turn_aborted", reason="interrupted"),
        note("error", message="context window exceeded"),
    )
    assert [(type(one), getattr(one, "text", "")) for one in told] == [
        (End, "done"),
        (End, ""),
        (Message, "context window exceeded"),
    ]


@given(mutated(SESSION))
def test_whatever_is_in_a_line_it_is_read(lines: list[dict[str, Any]]) -> None:
    reader = CodexRolloutReader()
    assert is_sound([*read(reader, lines), *reader.finish()])


@given(
    st.lists(st.tuples(st.integers(1, 1_000), st.integers(0, 50), st.integers(1, 3)), max_size=12)
)
def test_sums_that_are_repeated_add_up_to_the_last_sum(
    requests: list[tuple[int, int, int]],
) -> None:
    lines, prompt, output = [meta(), turn()], 0, 0
    for more, answered, times in requests:
        prompt, output = prompt + more, output + answered
        lines += [counted(usage(prompt, 0, output), usage(more, 0, answered))] * times
    told = only(Usage, *lines)
    assert sum(one.tokens.prompt for one in told) == prompt
    assert sum(one.tokens.output for one in told) == output
    assert len({one.request for one in told}) == len(requests)
