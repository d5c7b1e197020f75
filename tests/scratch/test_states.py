from __future__ import annotations

from brim.tracking.events import ModelSeen, StateSeen
from tests.scratch.making import call, ok
from tests.scratch.test_model import fed


def test_modes_branches_and_models_that_change_are_state_changes() -> None:
    model = fed(
        StateSeen(name="permission_mode", value="default"),
        StateSeen(name="branch", value="main"),
        ModelSeen(model="model-a"),
        StateSeen(name="permission_mode", value="plan"),
        StateSeen(name="branch", value="fix"),
        ModelSeen(model="model-b"),
        ModelSeen(model="model-b"),
    )
    assert model.state_changes == ["permission mode: default → plan", "branch: main → fix", "model: model-a → model-b"]


def test_what_a_sub_agent_runs_on_is_no_change() -> None:
    assert fed(ModelSeen(model="a"), ModelSeen(model="b", agent="x"), ModelSeen(model="a")).state_changes == []


def test_a_model_with_its_window_is_the_same_model() -> None:
    assert fed(ModelSeen(model="a[1m]"), ModelSeen(model="a")).state_changes == []


def test_each_session_has_its_own_state() -> None:
    assert fed(ModelSeen(model="a", session="1"), ModelSeen(model="b", session="2")).state_changes == []


def test_folder_and_version_are_no_state_of_the_work() -> None:
    assert fed(StateSeen(name="version", value="1"), StateSeen(name="version", value="2")).state_changes == []


def test_todo_items_that_change_status_are_state_changes() -> None:
    def todo(id: str, *statuses: str) -> object:
        return call(
            id, "TodoWrite", "todo", todos=[{"content": f"step {n}", "status": s} for n, s in enumerate(statuses)]
        )

    model = fed(
        todo("1", "in_progress", "pending"), todo("2", "completed", "pending"), todo("3", "completed", "pending")
    )
    assert model.state_changes == ["todo `step 0`: in_progress → completed"]


def test_todo_lists_of_other_agents_are_read() -> None:
    before = call("1", "todo_list", "todo", items=[{"text": "a", "completed": False}])
    after = call("2", "todo_list", "todo", items=[{"text": "a", "completed": True}])
    assert fed(before, after).state_changes == ["todo `a`: pending → completed"]
    before = call("1", "update_plan", "todo", plan=[{"step": "a", "status": "pending"}])
    after = call("2", "update_plan", "todo", plan=[{"step": "a", "status": "completed"}])
    assert fed(before, after).state_changes == ["todo `a`: pending → completed"]


def test_a_task_is_known_by_its_name_if_only_the_text_tells_its_number() -> None:
    made = call("1", "TaskCreate", "todo", subject="Write tests"), ok("1", "Task #4 created successfully: Write tests")
    assert fed(*made, call("2", "TaskUpdate", "todo", taskId="4", status="completed")).state_changes == [
        "todo `Write tests`: completed"
    ]


def test_a_task_is_known_by_the_name_that_it_was_made_with() -> None:
    model = fed(
        call("1", "TaskCreate", "todo", subject="Write tests"),
        ok("1", "Task #4 created", detail={"task": {"id": "4", "subject": "Write tests"}}),
        call("2", "TaskUpdate", "todo", taskId="4", status="in_progress"),
        call("3", "TaskUpdate", "todo", taskId="4", status="completed"),
        call("4", "TaskUpdate", "todo", taskId="5", status="completed"),
    )
    assert model.state_changes == [
        "todo `Write tests`: in_progress",
        "todo `Write tests`: in_progress → completed",
        "todo `task 5`: completed",
    ]
