"""``Supervisor``: decides between the turns of a run what comes next, and does it."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from signal import Signals
from typing import Any

from brim.errors import InputError
from brim.figures import percent
from brim.money.amounts import PERCENT, in_unit
from brim.money.budget import CostBudget, build_wrap_up_prompt
from brim.run.command import ClientCommand, with_input
from brim.run.conversation import Conversation, Face
from brim.run.purse import question, read_answer, spent_of
from brim.run.session import Tracked
from brim.run.turns import (
    ASK,
    COMPACT,
    CONTINUE,
    CUT_SHORT,
    DONE,
    END,
    MOST_REFUSALS,
    TurnEnd,
    build_continue_prompt,
    build_pointer,
    next_step,
)
from brim.run.turns import FAILED as TURN_FAILED
from brim.sessions.window.compaction import build_compact_prompt
from brim.text import fold

COMPACT_PATIENCE = 600.0
"""Seconds that a compaction may take; then the run goes on without it."""

RUN_ID = "BRIM_RUN_ID"
"""The variable that tells the agent's hooks who keeps the journal and the money: the supervisor."""

FINISHED, LIMIT, FAILED, INTERRUPTED = "finished", "limit", "failed", "interrupted"
OUTCOMES = (FINISHED, LIMIT, FAILED, INTERRUPTED)
"""``limit``: the money ended it, with or without a wrap-up."""


@dataclass
class RunReport:
    """How a run ended. Money is micro-dollars."""

    agent: str = ""
    answer: str = ""
    """What the agent answered last."""
    broken_lines: int = 0
    by_client: tuple[str, ...] = ()
    """Models whose price only the agent knows: ``cost`` rests on its word."""
    client_exit: int | None = None
    """The exit code of the agent's last process; None if none was started."""
    compactions: int = 0
    context_window: int = 0
    cost: int = 0
    limit: int | None = None
    model: str = ""
    outcome: str = FINISHED
    """One of ``OUTCOMES``."""
    overshoot: int = 0
    """How far over the limit the calls in flight have gone."""
    run: str = ""
    """The id that the agent's hooks saw as ``BRIM_RUN_ID``."""
    scope: str = ""
    """Where the ledger keeps what was spent."""
    scratch: str = ""
    """The scratch file; empty if there is none."""
    seconds: float = 0.0
    session: str = ""
    signal: int = 0
    """The signal that ended the run; 0 if none."""
    turns: int = 0
    """Turns that were sent and have ended; requests to compact aren't counted."""
    unpriced: tuple[str, ...] = ()
    """Models whose price isn't known: what they cost isn't in ``cost``."""
    unsent: tuple[str, ...] = ()
    """What waited and was not sent."""
    used_tokens: int = 0
    why: str = ""
    """In words; empty if it is finished."""
    wrapped_up: bool = False

    @property
    def exit_code(self) -> int:
        """0 if everything was done, 128 and the signal if one ended it, else 1: the limit, or a
        failure."""
        if self.outcome == FINISHED:
            return 0
        return 128 + self.signal if self.outcome == INTERRUPTED and self.signal else 1

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"schema": 1, **asdict(self), "exit_code": self.exit_code}


class Supervisor:
    """One run. *prompt* is the first turn and *then* those after it; *task* is what a compaction
    keeps in focus.

    *piped* is what the first turn is about, if that was piped in: data, and so not kept as a
    person's words. *on_limit* is one of ``purse.ON_LIMIT``. ``typed`` and ``signalled`` may be
    called from anywhere at any time; everything else happens in ``run``.
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
        piped: str = "",
        then: Sequence[str] = (),
        task: str = "",
        on_limit: str = "ask",
        compact_patience: float = COMPACT_PATIENCE,
    ) -> None:
        self._tracked = tracked
        self._face = face
        self._talk = Conversation(command, tracked, face, environ={**environ, RUN_ID: run}, cwd=cwd)
        self._talk.person_said = self._take_turn
        self._task = task or prompt
        self._on_limit = on_limit
        self._piped = piped
        self._compact_patience = compact_patience
        self._waiting = [prompt, *then]
        self._last: TurnEnd | None = None
        self._report = RunReport(
            run=run, agent=command.agent, outcome="", scope=tracked.purse.scope
        )
        self._continues = self._refusals = 0
        self._continued_limit = False
        self.typed = self._talk.typed
        self.signalled = self._talk.signalled

    def run(self) -> RunReport:
        """Run until nothing is left to send, the money ends, something fails, or a person says
        so."""
        began = time.monotonic()
        for line in self._talk.client.cannot:
            self._face.tell(f"{self._talk.agent} {line}")
        try:
            while (step := self._step()) != END:
                if step == ASK:
                    self._reach_limit()
                elif step == COMPACT:
                    self._compact()
                elif step == CONTINUE:
                    self._continues += 1
                    self._send_again()
                else:
                    self._send_for_person(self._waiting.pop(0))
            self._talk.leave()
        finally:
            self._talk.end()
            self._tracked.notes.close()
        self._finish(time.monotonic() - began)
        return self._report

    # Turns ----------------------------------------------------------------------------------------

    @property
    def _is_full(self) -> bool:
        """Whether the last turn failed because the window is full."""
        return self._last is not None and self._last.is_full

    def _step(self) -> str:
        """Return what comes next."""
        purse = self._tracked.purse
        return next_step(
            self._last,
            is_over=bool(self._report.outcome or self._talk.signal),
            is_spent=purse.is_spent or bool(purse.why_not_enforced),
            compact_due=self._talk.client.compacts
            and (self._tracked.budget.should_compact or self._is_full),
            waiting=bool(self._waiting),
            continues=self._continues,
            refusals=self._refusals,
        )

    def _take_turn(self, text: str) -> None:
        """Let what a person typed be a turn."""
        self._waiting.append(text)
        self._face.tell(f"the next turn: {fold(text, 100)}")

    def _send_for_person(self, text: str) -> None:
        """Send a person's turn, with what was piped in before the first."""
        self._continues = 0
        self._tracked.notes.person_said(text)
        text = with_input(self._talk.agent, text, self._piped)
        self._piped = ""
        before = ""
        if self._talk.compacted:
            before = build_pointer(self._tracked.notes.path)
        self._send(text, before)

    def _send_again(self) -> None:
        """Let the agent go on with what was cut short."""
        path = self._tracked.notes.path
        self._send(build_continue_prompt(self._task, path, compacted=self._talk.compacted))

    def _send(self, text: str, before: str = "") -> None:
        """Send a turn, alone, and return when it has ended. An agent that used up its own limit is
        restarted."""
        if self._last is not None and self._last.is_spent:
            self._talk.leave()
        if not self._may_start():
            return
        self._talk.compacted = False
        self._talk.send(text, before)
        self._talk.wait(lambda: self._talk.ended is not None)
        self._tracked.notes.save()
        ended = self._talk.ended
        if self._talk.is_cut:
            self._report.turns += 1
            self._last = TurnEnd(CUT_SHORT, "a limit was reached")
            self._face.show(self._tracked, settled=True)
            return
        if ended is None or ended.end is None:
            self._died()
            return
        self._report.turns += 1
        self._last = self._talk.turn_end(ended, ended.end)
        self._report.answer = ended.text
        if self._last.outcome == TURN_FAILED:
            self._fail(self._last.why)
        self._face.show(self._tracked, settled=True)

    def _compact(self) -> None:
        """Write the scratch memory, ask the agent to compact in a turn of its own, and wait until
        it has."""
        budget = self._tracked.budget
        self._tracked.notes.save()
        if not self._may_start():
            return
        why = f" at {percent(budget.utilization)} of the window"
        if self._is_full:
            why = ": the agent says that it is full"
        self._face.tell(f"compacting{why}")
        compactions = budget.compactions
        in_time = self._ask_to_compact(compactions)
        if budget.compactions > compactions:
            self._refusals = 0
            self._face.tell(f"compacted: {budget.used_tokens:,} tokens are left in the window")
        elif not self._talk.is_open:
            self._died()
        else:
            self._count_refusal(in_time=in_time)
        if self._last is not None:
            self._last = replace(self._last, is_full=False)
        self._face.show(self._tracked, settled=True)

    def _ask_to_compact(self, compactions: int) -> bool:
        """Send the turn, and wait until the window was compacted more than *compactions* times;
        False if that took too long."""
        budget = self._tracked.budget
        notes = self._tracked.notes
        talk = self._talk

        def is_over() -> bool:
            """An agent in the background ends with a result too: that one has turns, a compaction's
            has none."""
            if talk.ended is None:
                return False
            if budget.compactions > compactions or talk.refused or talk.signal:
                return True
            return not talk.ended.line.get("num_turns")

        budget.request_compaction()
        talk.is_quiet = True
        talk.send(build_compact_prompt(self._task, scratch_path=notes.path or None))
        in_time = talk.wait(is_over, self._compact_patience)
        talk.is_quiet = False
        budget.clear_compact()
        notes.save()
        return in_time

    def _count_refusal(self, *, in_time: bool) -> None:
        """Say why the agent did not compact."""
        self._refusals += 1
        why = self._talk.refused
        if not why and self._talk.ended is not None:
            why = self._talk.ended.text
        if not in_time:
            why = "it took too long"
        text = f"the agent did not compact: {why or 'it does not say why'}"
        if self._refusals == MOST_REFUSALS:
            text += "; brim won't ask again"
        self._face.tell(text)

    # The limit ------------------------------------------------------------------------------------

    def _reach_limit(self) -> None:
        """Ask, or do what was said before; then go on with a new limit, wrap up, or stop."""
        purse = self._tracked.purse
        report = self._report
        budget = purse.asked
        was_ended = purse.is_ended
        self._talk.leave()  # it got its limit when it started, so to go on it has to be restarted
        self._face.show(self._tracked, settled=True)
        if self._talk.signal:
            return
        if purse.why_not_enforced:
            report.outcome = LIMIT
            report.why = purse.why_not_enforced
            return
        answer = "stop" if was_ended else self._limit_answer()
        if self._talk.signal:
            return
        if answer not in ("wrap_up", "stop"):
            self._go_on(budget)
            return
        report.outcome = LIMIT
        report.why = f"paused at {spent_of(budget)}{budget.when} in {budget.scope}"
        if was_ended:
            report.why += "; it was stopped: brim limit shows how to go on"
        if answer == "wrap_up" and report.turns:
            self._wrap_up(budget)

    def _go_on(self, budget: CostBudget) -> None:
        """Say that the run goes on, with which limit."""
        self._continued_limit = True
        limit = ""
        if budget.unit != PERCENT:
            limit = f": the limit is {in_unit(budget.limit or 0, budget.unit)} now"
        self._face.tell(f"going on{limit}")

    def _limit_answer(self) -> str:
        """Return what is done at the limit, after it was done: ``continue``, ``raise``, ``wrap_up``
        or ``stop``.

        A person is asked if one is there and is to be asked. Without one ``continue`` is done once.
        """
        purse = self._tracked.purse
        why = ""
        if self._on_limit == "ask" and self._face.can_ask:
            return self._ask()
        answer = self._on_limit
        if answer == "ask":
            answer = "wrap_up"
            why = "no terminal to ask on: "
        elif answer == "continue" and self._continued_limit:
            answer = "wrap_up"
            why = "it was continued once: "
        try:
            purse.answer(answer)
        except InputError as error:  # a limit of nothing has no tenth more
            self._face.tell(str(error))
            answer = "wrap_up"
            purse.answer(answer)
        words = {"wrap_up": "wrapping up", "stop": "stopping"}
        if answer in words:
            self._face.tell(why + words[answer])
        return answer

    def _ask(self) -> str:
        """Ask the person, until the answer is understood; stop at a signal."""
        purse = self._tracked.purse
        while True:
            self._face.ask(question(purse.asked))
            typed = self._talk.wait_for_typed()
            if typed is None:
                self._face.ask("\n")  # the cursor stands behind the question
            if self._talk.signal:
                return "stop"
            try:
                answer = read_answer(typed or "", purse.asked.unit)
                purse.answer(answer)
            except InputError as error:
                self._face.tell(str(error))
            else:
                return answer if isinstance(answer, str) else "raise"

    def _wrap_up(self, asked: CostBudget) -> None:
        """Send the wrap-up turn, which is paid from what was held back for it. *asked* is the limit
        that is reached."""
        purse = self._tracked.purse
        left = purse.budget.left
        if left == 0 or purse.held is not None:
            self._face.tell("nothing is left for a wrap-up")
            return
        if not self._talk.can_resume:
            self._face.tell("it cannot be resumed for a wrap-up")
            return
        prompt = build_wrap_up_prompt(
            asked.spent,
            asked.limit,
            set_aside=left or 0,
            task=self._task,
            scratch_path=self._tracked.notes.path or None,
            unit=asked.unit,
        )
        self._send(prompt)
        self._report.wrapped_up = self._last is not None and self._last.outcome == DONE
        if not self._report.wrapped_up:
            self._report.why += "; the wrap-up did not come to its end"

    # The end --------------------------------------------------------------------------------------

    def _may_start(self) -> bool:
        """Whether the next turn can reach the session; the run fails if not."""
        if self._talk.is_open or not self._report.turns or self._talk.can_resume:
            return True
        self._fail("the session cannot be resumed, and its process is gone")
        return False

    def _died(self) -> None:
        """The turn did not end. Its process has, or is ended now."""
        self._talk.end()
        self._fail(f"{self._talk.agent} {_ended_with(self._talk.exit)} before its turn was over")

    def _fail(self, why: str) -> None:
        """Say why the run failed, unless something ended it before."""
        if not self._report.outcome:
            self._report.outcome = FAILED
            self._report.why = why

    def _finish(self, seconds: float) -> None:
        """Complete the report."""
        self._say_outcome()
        report = self._report
        report.client_exit = self._talk.exit
        report.signal = self._talk.signal
        report.seconds = seconds
        report.unsent = tuple(self._waiting)
        report.session = self._tracked.session
        report.scratch = self._tracked.notes.path
        report.broken_lines = self._tracked.feed.broken
        budget = self._tracked.budget
        report.model = budget.model
        report.compactions = budget.compactions
        report.used_tokens = budget.used_tokens
        report.context_window = budget.context_window
        purse = self._tracked.purse
        report.cost = purse.meter.total
        report.unpriced = purse.unpriced
        report.limit = purse.budget.limit
        report.overshoot = purse.budget.overshoot
        if not purse.unpriced:
            report.by_client = tuple(sorted(purse.meter.unpriced))

    def _say_outcome(self) -> None:
        """Say how the run ended; a signal counts more than anything before it."""
        talk = self._talk
        last = self._last or TurnEnd(DONE)
        if talk.signal:
            self._report.outcome = INTERRUPTED
            self._report.why = f"by {Signals(talk.signal).name}"
        elif last.why:
            self._fail(f"cut short: {last.why}")
        elif talk.exit and not last.is_spent:
            self._fail(f"{talk.agent} {_ended_with(talk.exit)}")
        self._report.outcome = self._report.outcome or FINISHED


def _ended_with(code: int | None) -> str:
    """Return how a process has ended, in words; one that a signal ended has a negative *code*."""
    if code is None or code >= 0:
        return f"ended with {code}"
    if -code in set(Signals):
        return f"was ended by {Signals(-code).name}"
    return f"was ended by signal {-code}"
