"""The page of a session shows what the commands say, and its copy to share names nothing."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Iterator

import pytest

from brim.figures import dollars, rounded
from brim.money.words import STOPPED_BY
from brim.sessions import read_requests
from brim.sessions.composition.context import GROUPS, timeline
from tests.ui.conftest import READING, Pages, World, kept_reading, served
from tests.ui.story import Story

SECRET = "sk-ant-api03-" + "a1B2" * 20
HOSTILE = '</script><img src=x onerror="alert(1)">\x1b[2J'


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Pages, Story]]:
    world = World(tmp_path_factory.mktemp("session"))
    world.brim("init", "--agent", "claude")
    world.brim(
        "learn",
        "--user",
        "Run pytest with -x while you work on one failure.",
        "--when",
        "task testing",
    )
    world.brim("learn", "--user", "--block", "python -m cProfile", "Profile with py-spy.")
    story = world.story()
    story.play()
    story.ask(f"Look at {HOSTILE} with {SECRET}")
    story.read(f"src/{HOSTILE}.py", 200, 7)
    story.answer("Done.")
    with served(world) as pages:
        yield pages, story


def chart_of(text: str) -> dict[str, object]:
    found = re.search(r'data-chart="([^"]*)"', text)
    assert found is not None
    chart: dict[str, object] = json.loads(html.unescape(found[1]))
    return chart


def test_the_chart_has_the_parts_of_every_request(played: tuple[Pages, Story]) -> None:
    pages, story = played
    chart = pages.get(f"/session/{story.id}/data").json["chart"]
    assert chart == chart_of(pages.get(f"/session/{story.id}").text)
    sums = {group["name"]: group["tokens"] for group in chart["groups"]}
    for number in (1, len(chart["numbers"]) // 2, len(chart["numbers"])):
        said = pages.world.json("context", str(story.path), "--at", str(number))
        assert chart["billed"][number - 1] == said["request"]["billed_tokens"]
        known = {part["name"]: part for part in said["parts"]}
        for group, names in GROUPS.items():
            parts = [
                part
                for name, part in known.items()
                if name in names or (group[:6] == "system" and "not recorded" in name)
            ]
            slack = sum(
                part["items"] for part in parts
            )  # each piece is rounded there, and the sum here
            assert (
                abs(sums[group][number - 1] - sum(part["tokens"] or 0 for part in parts)) <= slack
            )


def test_the_timeline_adds_up_to_the_bill() -> None:
    requests = read_requests(
        os.path.join(os.path.dirname(__file__), "..", "..", "examples", "recorded", "session.jsonl")
    )
    moments = timeline(requests)
    assert [each.number for each in moments] == list(range(1, len(requests) + 1))
    assert all(sum(each.parts.values()) + each.rest == each.billed for each in moments)
    assert moments[0].to_dict()["parts"].keys() == GROUPS.keys()
    assert timeline([]) == []


def test_marks_stand_where_things_happened(played: tuple[Pages, Story]) -> None:
    pages, story = played
    chart = pages.get(f"/session/{story.id}/data").json["chart"]
    kinds = [mark["kind"] for mark in chart["marks"]]
    report = pages.world.json("report", str(story.path))
    assert kinds.count("compaction") == report["compactions"]["count"] == 1
    assert kinds.count("break") == len(report["cache"]["breaks"])
    assert kinds.count("prompt") == 6
    assert kinds.count("rules") == 5  # calls that a rule refused
    drop = next(mark["at"] for mark in chart["marks"] if mark["kind"] == "compaction")
    assert chart["billed"][int(drop - 0.5) - 1] > chart["billed"][int(drop + 0.5) - 1]
    assert all(0.5 <= mark["at"] <= len(chart["numbers"]) for mark in chart["marks"])


def test_figures_are_those_of_the_commands(played: tuple[Pages, Story]) -> None:
    pages, story = played
    text = html.unescape(re.sub(r"<[^>]+>", "", pages.get(f"/session/{story.id}").text))
    report, lost = (
        pages.world.json("report", str(story.path)),
        pages.world.json("memory", "lost", str(story.path)),
    )
    assert dollars(report["money"]["total"]) in text
    compaction = lost["compactions"][0]
    assert f"{rounded(compaction['before'])} → {rounded(compaction['after'])}" in text
    for kind, (had, gone) in compaction["counts"].items():
        if gone:
            assert f"{gone} of {had} {kind}" in text
    for waste in report["waste"]:
        assert f"{rounded(waste['tokens'])} tokens" in text


def test_requests_are_stepped_through(played: tuple[Pages, Story]) -> None:
    pages, story = played
    second = pages.get(f"/session/{story.id}/request/2").text
    assert "request 2 of" in second
    assert "Read: src/importer.py" in second
    for number in ("0", "100000"):
        assert pages.get(f"/session/{story.id}/request/{number}").status == 400
    assert pages.get(f"/session/{story.id}/request/x").status == 404


def test_a_session_that_takes_long_to_read_is_shown_when_it_is_read(world: World) -> None:
    story = world.story()
    story.play(cut=True)
    path = f"/session/{story.id}/request/2"
    with served(world) as pages:
        with kept_reading(pages, story):
            answer = pages.ask("GET", path, headers={"Cookie": pages.cookie})
            assert answer.status == READING
            assert "Reading this session" in answer.text
        assert "request 2 of" in pages.get(path).text


def test_hostile_names_are_text_and_secrets_are_masked(played: tuple[Pages, Story]) -> None:
    pages, story = played
    last = len(pages.get(f"/session/{story.id}/data").json["chart"]["numbers"])
    for path in ("/", f"/session/{story.id}", f"/session/{story.id}/request/{last}"):
        text = pages.get(path).text
        assert "<img" not in text
        assert "\x1b" not in text
        assert SECRET not in text


def test_the_copy_to_share_names_nothing(played: tuple[Pages, Story]) -> None:
    pages, story = played
    answer = pages.get(f"/session/{story.id}/export")
    assert answer.headers["content-disposition"].startswith("attachment")
    text = html.unescape(answer.text)
    page = text.partition("<body>")[2].partition("<script>")[0]
    for name in (
        "importer",
        "export_",
        "pytest",
        "cProfile",
        "shop",
        "supplier",
        "lock.json",
        story.id,
        "one failure",
    ):
        assert name not in page
    assert not re.search(r"/(?:tmp|home)\b", page)
    assert 'http-equiv="Content-Security-Policy" content="default-src \'none\'' in text
    assert not re.search(r'(?:src|href)="', page)
    assert "file 1 (.py)" in page
    shared, own = chart_of(answer.text), pages.get(f"/session/{story.id}/data").json["chart"]
    assert shared["groups"] == own["groups"]
    assert [mark["kind"] for mark in shared["marks"]] == [mark["kind"] for mark in own["marks"]]  # type: ignore[attr-defined]


def test_a_call_that_was_held_is_marked_and_nothing_else(world: World) -> None:
    story = world.story()
    story.play(cut=True)
    for text, is_error in (
        (f"{STOPPED_BY}: $5.03 of $5.00", True),
        (f"The page says: {STOPPED_BY}", False),
        ("no such file", True),
    ):
        block = {"tool_use_id": "t", "type": "tool_result", "content": text, "is_error": is_error}
        story.write(type="user", message={"role": "user", "content": [block]})
    story.answer("I stop here.")
    with served(world) as pages:
        marks = pages.get(f"/session/{story.id}/data").json["chart"]["marks"]
    assert [(mark["kind"], mark["at"]) for mark in marks if mark["kind"] == "limit"] == [
        ("limit", 4)
    ]


def test_a_broken_project_doesnt_hide_its_session(world: World) -> None:
    story = world.story()
    story.play(cut=True)
    (world.project / ".brim").mkdir()
    (world.project / ".brim" / "config.yaml").write_text("odd: [")
    with served(world, cwd=world.home) as pages:
        assert pages.get(f"/session/{story.id}").status == 200


def test_a_session_that_is_deleted_while_it_is_shown(world: World) -> None:
    story = world.story()
    story.play(cut=True)
    with served(world) as pages:
        assert pages.get(f"/session/{story.id}").status == 200
        story.path.unlink()
        for path in ("", "/data", "/request/1", "/export", "/events"):
            answer = pages.get(f"/session/{story.id}{path}")
            assert answer.status in (400, 404)
            assert "gone" in answer.text or "removed" in answer.text
        assert pages.get("/").status == 200


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe\x00", b"[" * 5_000, b'{"type": "user"', b"{}\n" * 100]
)
def test_files_that_are_no_session(world: World, content: bytes) -> None:
    story = world.story()
    story.path.write_bytes(content)
    with served(world) as pages:
        answer = pages.get(f"/session/{story.id}")
        assert answer.status in (200, 400)
        assert "Traceback" not in answer.text
        assert pages.get("/").status == 200
