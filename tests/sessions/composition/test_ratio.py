"""The ratio that is known before a request, and what isn't recorded of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from brim.sessions.composition.composed_request import ComposedRequest, requests_of
from brim.sessions.composition.reading import read_requests, read_thread
from brim.tokens.calibrate import Calibration, MemoryCalibrationStore
from tests.sessions.composition.test_parts import answer_line


def count(text: str) -> int:
    """Count words: easy to bill by."""
    return len(text.split())


def session(
    tmp_path: Path, *turns: tuple[int, int], recorded: bool = True, model: str = "claude-opus-4-5"
) -> Path:
    """Write a session: each turn adds so many words, and is billed so many tokens."""
    lines: list[dict[str, Any]] = []
    shape = {"system": [{"type": "text", "text": "word " * 1_000}], "tools": []}
    if recorded:
        lines.append(
            {"type": "api-request-shape", "sessionId": "s", "shapeHash": "h", "shape": shape}
        )
    hashes: list[str] = []
    for at, (words, billed) in enumerate(turns):
        hashes.append(f"{at}" * 64)
        message = {"role": "user", "content": "word " * words}
        if recorded:
            about = {
                "id": f"r{at}",
                "shapeHash": "h",
                "tail": list(hashes),
                "keep": 0,
                "params": {"model": model},
            }
            lines.append(
                {
                    "type": "api-request-blob",
                    "sessionId": "s",
                    "hash": hashes[-1],
                    "message": message,
                }
            )
            lines.append({"type": "api-request", "sessionId": "s", **about})
        else:
            lines.append({"type": "user", "sessionId": "s", "uuid": f"u{at}", "message": message})
        answer = answer_line(f"m{at}", {"type": "text", "text": ""}, input_tokens=billed)
        lines.append({**answer, "message": {**answer["message"], "model": model}})
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def read(path: Path) -> list[ComposedRequest]:
    return read_requests(path, count=count)


def test_the_first_request_has_the_prior_and_the_next_its_ratio(tmp_path: Path) -> None:
    first, second, third = read(session(tmp_path, (1_000, 3_000), (1_000, 4_500), (1_000, 6_000)))
    assert (first.known.ratio, first.known.basis, first.remainder) == (
        1.27,
        "estimated",
        3_000 - 2 * 1_270,
    )
    assert (second.known.ratio, second.known.basis, second.remainder) == (1.5, "calibrated", 0)
    assert third.remainder == 0


def test_what_no_part_explains_does_not_raise_the_ratio(tmp_path: Path) -> None:
    turns = [(1_000, 3_000), (1_000, 4_500), (10, 24_515), (1_000, 26_015), (1_000, 27_515)]
    requests = read(session(tmp_path, *turns))
    assert [round(request.known.ratio, 2) for request in requests[1:]] == [1.5] * 4
    assert [request.remainder for request in requests[1:]] == [0, 20_000, 20_000, 20_000]


def test_texts_of_another_kind_do_raise_it(tmp_path: Path) -> None:
    requests = read(session(tmp_path, (1_000, 3_000), (4_000, 13_000), (1_000, 15_000)))
    assert requests[2].known.ratio == pytest.approx(13_000 / 6_000)


def test_an_impossible_ratio_teaches_nothing(tmp_path: Path) -> None:
    requests = read(session(tmp_path, (1_000, 90_000), (1_000, 91_000)))
    assert (requests[1].known.ratio, requests[1].known.basis) == (1.27, "estimated")


def test_a_message_that_is_not_resolved_does_not_spoil_the_ratio(tmp_path: Path) -> None:
    path = session(tmp_path, (1_000, 3_000), (1_000, 4_500), (1_000, 6_000))
    lines = path.read_text().splitlines()
    del lines[1]  # the message of the first request
    path.write_text("\n".join(lines) + "\n")
    first, second, third = read(path)
    assert [request.known.basis for request in (first, second, third)] == [
        "estimated",
        "estimated",
        "calibrated",
    ]
    assert (third.known.ratio, third.remainder) == (1.5, 1_500)


def test_each_model_has_its_own_ratio(tmp_path: Path) -> None:
    path = session(tmp_path, (1_000, 3_000), (1_000, 6_000), (1_000, 6_000))
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    lines[-4]["message"]["model"] = "claude-haiku-4-5"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    requests = read(path)
    assert [request.model for request in requests] == [
        "claude-opus-4-5",
        "claude-haiku-4-5",
        "claude-opus-4-5",
    ]
    assert [request.known.basis for request in requests] == ["estimated", "estimated", "calibrated"]
    assert requests[2].known.ratio == 1.5


def test_what_is_not_recorded_is_the_intercept(tmp_path: Path) -> None:
    turns = [(100, 20_150), (3_000, 24_650), (3_000, 29_150)]
    requests = read(session(tmp_path, *turns, recorded=False))
    assert [request.known.hidden for request in requests] == [None, 20_150 - 127, 20_000]
    assert (requests[2].known.ratio, requests[2].remainder) == (1.5, 0)


def test_what_other_sessions_showed_is_known_before_the_first_request(tmp_path: Path) -> None:
    thread, _ = read_thread(session(tmp_path, (100, 20_150), recorded=False), count=count)
    store = MemoryCalibrationStore({"claude-opus-4-5": Calibration(1.5, 0.0, 3.0)})
    (request,) = requests_of(thread, store, {"claude-opus-4-5": 20_000})
    assert (request.known.ratio, request.known.basis, request.known.hidden) == (
        1.5,
        "calibrated",
        20_000,
    )
    assert request.remainder == 0


def test_a_model_whose_vocabulary_is_here_is_counted_exactly(tmp_path: Path) -> None:
    (request,) = read(session(tmp_path, (1_000, 2_000), model="gpt-4o"))
    assert (request.known.ratio, request.known.basis, request.remainder) == (1.0, "exact", 0)
