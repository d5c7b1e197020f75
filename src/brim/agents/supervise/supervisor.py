"""``Supervisor``: decides between the turns of a run what comes next, and does it."""

from __future__ import annotations

import time

from brim.agents.supervise.at_limit import limit_answer
from brim.agents.supervise.clients import with_input
from brim.agents.supervise.conversation import Conversation
from brim.agents.supervise.report import FAILED, FINISHED, INTERRUPTED, LIMIT, RunReport
from brim.agents.supervise.sentences import build_continue_prompt, build_pointer
from brim.agents.supervise.turns import ASK, COMPACT, CONTINUE, DONE, END, MOST_REFUSALS, TurnEnd, next_step, turn_end
from brim.agents.supervise.turns import FAILED as TURN_FAILED
from brim.spend.limits import build_wrap_up_prompt
from brim.spend.money import in_dollars
from brim.tracking.compaction import Pending, build_compact_prompt, fold

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from brim.agents.supervise.command import ClientCommand
    from brim.agents.supervise.face import Face
    from brim.agents.supervise.tracked import Tracked

COMPACT_PATIENCE = 600.0
"""Seconds that a compaction may take; then the run goes on without it."""

RUN_ID = "BRIM_RUN_ID"
"""The variable that tells the agent's hooks who keeps the journal and the money: the supervisor."""


class Supervisor:
    """One run. *prompt* is the first turn and *then* those after it; *task* is what a compaction keeps in focus.

    *given* is what the first turn is about, if that was piped in: data, and so not kept as a person's words.
    *on_limit* is one of ``asking.ON_LIMIT``. ``typed`` and ``signalled`` may be called from anywhere at any time;
    everything else happens in ``run``.
    """

    def __init__(
        self,
        command: ClientCommand,
        prompt: str,
        tracked: Tracked,
        face: Face,
        *,
        environ: Mapping[str, str],
        cwd: str,
        run: str,
        given: str = "",
        then: Sequence[str] = (),
        task: str = "",
        on_limit: str = "ask",
        compact_patience: float = COMPACT_PATIENCE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tracked, self._face, self._run = tracked, face, run
        self._talk = Conversation(command, tracked, face, environ={**environ, RUN_ID: run}, cwd=cwd, clock=clock)
        self._talk.person_said = self._next_turn
        self._task, self._on_limit, self._given = task or prompt, on_limit, given
        self._compact_patience, self._clock = compact_patience, clock
        self._pending = Pending()
        for text in (prompt, *then):
            self._pending.add("human", text)
        self._last: TurnEnd | None = None
        self._outcome = self._why = self._answer = ""
        self._turns = self._continues = self._refusals = 0
        self._continued_limit = self._wrapped_up = False
        self.typed, self.signalled = self._talk.typed, self._talk.signalled

    def run(self) -> RunReport:
        """Run until nothing is left to send, the money ends, something fails, or a person says so."""
        began = self._clock()
        for line in self._talk.client.cannot:
            self._face.tell(f"{self._talk.client.name} {line}")
        try:
            while (step := self._step()) != END:
                if step == ASK:
                    self._reach_limit()
                elif step == COMPACT:
                    self._compact()
                elif step == CONTINUE:
                    self._continue()
                elif (turn := self._pending.take(self._tracked.session)) is not None:
                    self._send_for_person(turn.text)
            self._talk.leave()
        finally:
            self._talk.end()
            self._tracked.notes.close()
        return self._report(self._clock() - began)

    # Turns -------------------------------------------------------------------------------------------------------

    def _step(self) -> str:
        budget = self._tracked.budget
        is_full = self._last is not None and self._last.is_full
        return next_step(
            self._last,
            is_over=bool(self._outcome or self._talk.signal),
            is_spent=self._tracked.purse.is_spent or self._tracked.purse.is_blind,
            compact_due=self._talk.client.compacts and (budget.should_compact or is_full),
            waiting=len(self._pending) > 0,
            continues=self._continues,
            refusals=self._refusals,
        )

    def _next_turn(self, text: str) -> None:
        self._pending.add("human", text)
        self._face.tell(f"the next turn: {fold(text, 100)}")

    def _send_for_person(self, text: str) -> None:
        self._continues = 0
        self._tracked.notes.person_said(text)
        text, self._given = with_input(self._talk.client.name, text, self._given), ""
        self._send(text, build_pointer(self._tracked.notes.path) if self._talk.compacted else "")

    def _continue(self) -> None:
        """Go on with what was cut short."""
        self._continues += 1
        self._send(build_continue_prompt(self._task, self._tracked.notes.path, compacted=self._talk.compacted))

    def _send(self, text: str, before: str = "") -> None:
        """Send a turn, alone, and return when it has ended. Whose own limit is used up is started anew with another."""
        if self._last is not None and self._last.is_spent:
            self._talk.leave()
        if not self._may_start():
            return
        self._talk.compacted = False
        self._talk.send(text, before)
        self._talk.wait(lambda: self._talk.ended is not None)
        self._tracked.notes.save()
        ended = self._talk.ended
        if ended is None or ended.end is None:
            self._died()
            return
        self._turns += 1
        self._last, self._answer = turn_end(ended.end, ended.line, answered=ended.answered), ended.text
        if self._last.outcome == TURN_FAILED:
            self._fail(self._last.why)
        self._face.show(self._tracked, settled=True)

    def _compact(self) -> None:
        """Write the scratch memory, ask the agent to compact in a turn of its own, and wait until it has."""
        budget, notes, talk = self._tracked.budget, self._tracked.notes, self._talk
        notes.save()
        if not self._may_start():
            return
        is_full = self._last is not None and self._last.is_full
        why = ": the agent says that it is full" if is_full else f" at {100 * budget.utilization:.0f} % of the window"
        self._face.tell(f"compacting{why}")
        before = budget.compactions
        budget.request_compaction()

        def is_over() -> bool:
            """An agent in the background ends with a result too: that one has turns, a compaction's has none."""
            ended = talk.ended
            is_own = budget.compactions > before or talk.refused or talk.signal
            return ended is not None and bool(is_own or not ended.line.get("num_turns"))

        talk.is_quiet = True
        talk.send(build_compact_prompt(self._task, scratch_path=notes.path or None))
        in_time = talk.wait(is_over, self._compact_patience)
        talk.is_quiet = False
        budget.clear_compact()
        notes.save()
        if budget.compactions > before:
            self._refusals = 0
            self._face.tell(f"compacted: {budget.used_tokens:,} tokens are left in the window")
        elif not talk.is_open:
            self._died()
        else:
            self._refusals += 1
            said = talk.refused or (talk.ended.text if talk.ended is not None else "") or "it does not say why"
            said = said if in_time else "it took too long"
            last = "; it is asked no more" if self._refusals == MOST_REFUSALS else ""
            self._face.tell(f"the agent did not compact: {said}{last}")
        if self._last is not None:
            self._last = self._last.changed(is_full=False)
        self._face.show(self._tracked, settled=True)

    # The limit ---------------------------------------------------------------------------------------------------

    def _reach_limit(self) -> None:
        """Ask, or do what was said before; then go on with a new limit, wrap up, or stop."""
        purse = self._tracked.purse
        budget, was_ended = purse.asked, purse.is_ended
        self._talk.leave()  # it was given its limit when it started: whoever goes on is started anew
        self._face.show(self._tracked, settled=True)
        answer = "stop"
        if purse.is_blind and not self._talk.signal:
            self._outcome, self._why = LIMIT, purse.blindness
            return
        if not was_ended and not self._talk.signal:
            answer = limit_answer(purse, self._face, self._talk, self._on_limit, continued=self._continued_limit)
        if self._talk.signal:
            return
        if answer not in ("wrap_up", "stop"):
            self._continued_limit = True
            self._face.tell(f"going on: the limit is {in_dollars(budget.limit or 0)} now")
            return
        self._outcome = LIMIT
        self._why = f"paused at {in_dollars(budget.spent)} of {in_dollars(budget.limit or 0)} in {budget.scope}"
        if was_ended:
            self._why += f"; it was stopped: 'brim spend raise {budget.scope} USD' lets it go on"
        if answer == "wrap_up" and self._turns:
            self._wrap_up()

    def _wrap_up(self) -> None:
        """Send the wrap-up turn, which is paid from what was held back for it."""
        purse, path = self._tracked.purse, self._tracked.notes.path
        left, asked = purse.budget.left, purse.asked
        if left == 0 or not self._talk.can_resume:
            self._face.tell("nothing is left for a wrap-up" if left == 0 else "it cannot be resumed for a wrap-up")
            return
        self._send(
            build_wrap_up_prompt(asked.spent, asked.limit, held=left or 0, task=self._task, scratch_path=path or None)
        )
        self._wrapped_up = self._last is not None and self._last.outcome == DONE
        if not self._wrapped_up:
            self._why += "; the wrap-up did not come to its end"

    # The end -----------------------------------------------------------------------------------------------------

    def _may_start(self) -> bool:
        if self._talk.is_open or not self._turns or self._talk.can_resume:
            return True
        self._fail("the session cannot be resumed, and its process is gone")
        return False

    def _died(self) -> None:
        """The turn did not end. Its process has, or is ended now."""
        self._talk.end()
        self._fail(f"{self._talk.client.name} {_ended_with(self._talk.exit)} before its turn was over")

    def _fail(self, why: str) -> None:
        """Say why the run failed, unless something ended it before."""
        if not self._outcome:
            self._outcome, self._why = FAILED, why

    def _report(self, seconds: float) -> RunReport:
        tracked, purse, talk = self._tracked, self._tracked.purse, self._talk
        outcome, why = self._outcome or FINISHED, self._why
        if talk.signal:
            from signal import Signals

            outcome, why = INTERRUPTED, f"by {Signals(talk.signal).name}"
        elif outcome == FINISHED and self._last is not None and self._last.why:
            outcome, why = FAILED, f"cut short: {self._last.why}"
        elif outcome == FINISHED and talk.exit and not (self._last is not None and self._last.is_spent):
            outcome, why = FAILED, f"{talk.client.name} {_ended_with(talk.exit)}"
        return RunReport(
            run=self._run,
            agent=talk.client.name,
            outcome=outcome,
            why=why,
            answer=self._answer,
            turns=self._turns,
            compactions=tracked.budget.compactions,
            unsent=tuple(turn.text for turn in self._pending.waiting),
            wrapped_up=self._wrapped_up,
            session=tracked.session,
            model=tracked.budget.model,
            used_tokens=tracked.budget.used_tokens,
            context_window=tracked.budget.context_window,
            cost=purse.meter.total,
            limit=purse.budget.limit,
            overshoot=purse.budget.overshoot,
            unpriced=purse.unpriced,
            by_client=() if purse.unpriced else tuple(sorted(purse.meter.unpriced)),
            scope=purse.scope,
            scratch=tracked.notes.path,
            client_exit=talk.exit,
            signal=talk.signal,
            broken_lines=tracked.feed.broken,
            seconds=seconds,
        )


def _ended_with(code: int | None) -> str:
    """Return how a process has ended, in words; one that a signal ended has a negative *code*."""
    if code is None or code >= 0:
        return f"ended with {code}"
    from signal import Signals

    return f"was ended by {Signals(-code).name if -code in set(Signals) else f'signal {-code}'}"
