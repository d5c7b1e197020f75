"""What a client's own totals have beyond its requests: a compaction is a request that stands in no line."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from brim.tracking.usage.request import Request, Total


class Unattributed:
    """The rest of one session: tokens as in ``Total``, and ``cost`` in micro-dollars, None if the client says none.

    ``time`` is that of the session's last request, because totals have none.
    """

    __slots__ = ("cost", "session", "time", "tokens")

    def __init__(self, session: str, tokens: list[int], cost: int | None, time: float | None) -> None:
        self.session, self.tokens, self.cost, self.time = session, tokens, cost, time


def unattributed(
    requests: Iterable[Request], totals: Mapping[str, Total], copies: Iterable[Request] = ()
) -> list[Unattributed]:
    """Return what is left of the *totals* of each session when its *requests* are taken off; never below 0.

    So are the *copies* in it of another session's requests: its total may go on from the other's, and what is counted
    there must not be a rest here. The client's own prices are in its totals. Where they are lower than the table's,
    nothing may be left.
    """
    tokens: dict[str, dict[str, list[int]]] = {session: {} for session in totals}
    costs: dict[str, int] = dict.fromkeys(totals, 0)
    times: dict[str, float] = {}
    for request in (*requests, *copies):
        if request.session not in totals:
            continue
        sums = tokens[request.session].setdefault(request.model, [0] * 5)
        for at, count in enumerate(_counts(request)):
            sums[at] += count
        costs[request.session] += request.cost or 0
        if request.time is not None:
            times[request.session] = max(request.time, times.get(request.session, request.time))
    found = []
    for session, total in sorted(totals.items()):
        rest = [0] * 5
        for model, sums in total.tokens.items():
            known = tokens[session].get(model, [0] * 5) if model else _all(tokens[session])
            rest = [left + max(0, all_ - one) for left, all_, one in zip(rest, sums, known, strict=True)]
        cost = None if total.cost is None else max(0, total.cost - costs[session])
        if any(rest) or cost:
            found.append(Unattributed(session, rest, cost, times.get(session)))
    return found


def _all(by_model: Mapping[str, list[int]]) -> list[int]:
    return [sum(column) for column in zip([0] * 5, *by_model.values(), strict=True)]


def _counts(request: Request) -> tuple[int, ...]:
    return request.input, request.output, request.cache_read, request.cache_write_5m, request.cache_write_1h
