"""What a client's total shows beyond the requests in its session's lines."""

from __future__ import annotations

from brim.sessions.requests import ClientTotal
from brim.sessions.rests import Rest, rest_by_model, rest_of


def test_what_the_client_counts_beyond_its_lines_is_the_rest() -> None:
    total = ClientTotal("s", 500, {"m": [20, 20, 0, 0, 0], "small": [1, 1, 0, 0, 0]})
    covered = {"m": [20, 12, 0, 0, 0]}
    assert rest_of(total, covered, 150) == Rest((1, 9, 0, 0, 0), 350)
    assert rest_by_model(total, covered) == {"m": [0, 8, 0, 0, 0], "small": [1, 1, 0, 0, 0]}


def test_a_total_of_all_models_is_compared_with_all_requests() -> None:
    total = ClientTotal("s", None, {"": [30, 11, 0, 0, 0]})
    covered = {"m": [10, 5, 0, 0, 0], "n": [10, 5, 0, 0, 0]}
    assert rest_of(total, covered, 0) == Rest((10, 1, 0, 0, 0), None)


def test_a_model_is_the_same_whatever_window_was_asked_for() -> None:
    total = ClientTotal("s", 7, {"claude-sonnet-4-5[1m]": [30, 11, 0, 0, 0]})
    covered = {"claude-sonnet-4-5": [30, 11, 0, 0, 0]}
    assert not rest_of(total, covered, 9).is_positive


def test_a_total_below_the_requests_leaves_nothing() -> None:
    total = ClientTotal("s", 40, {"m": [1, 1, 0, 0, 0]})
    assert rest_of(total, {"m": [10, 5, 0, 0, 0]}, 100) == Rest((0, 0, 0, 0, 0), 0)
