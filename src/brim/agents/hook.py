"""The process that an agent starts at an event: reads what happened, and answers in one write, or not at all.

It never raises, never ends with anything but 0, and never takes longer than a second: an agent waits for it, and may
take a failure for a *no*. What goes wrong is one line in the log.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from brim.agents.answer import Answer
    from brim.agents.bundle import Bundle
    from brim.agents.call import HookCall

SECONDS = 0.9
"""For everything; with the start of Python it stays within one second."""
LARGEST = 16 << 20
"""Bytes of standard input that are read; more than that is not answered."""
PAUSED = "paused"
"""The file in the user's folder that makes every hook answer nothing: ``brim pause``."""

HANDLERS = {
    "session_start": "start",
    "prompt": "prompt",
    "before_tool": "before_tool",
    "after_tool": "after_tool",
    "tool_failed": "after_tool",
    "before_compact": "compaction",
    "after_compact": "compaction",
    "stop": "ending",
    "subagent_stop": "ending",
    "session_end": "ending",
    "model_call": "model_call",
}
"""Which file of ``handlers`` answers an event."""


UNHURRIED = ("after_tool", "tool_failed", "stop", "subagent_stop", "session_end")
"""The events with little to do, at which there is time to tidy up."""


class TimeUp(BaseException):
    """The time is over. Whoever catches it has an answer that is ready, and begins nothing more."""


def main(
    argv: Sequence[str] | None = None,
    stdin: Any = None,
    stdout: Any = None,
    environ: Mapping[str, str] | None = None,
) -> int:
    """Answer the event that *argv* (event, agent) and *stdin* tell of on *stdout*; return 0, always.

    Without *argv* it is the process of a hook: it takes its own, and ends here.
    """
    process = argv is None
    bundle = None
    given = sys.argv[1:] if argv is None else argv
    if process:
        _fill_standard_streams()
        import gc

        gc.disable()  # the process ends before there is anything to collect
        bundle = _bundle(given)
    clock: tuple[Any, Any] | None = None
    try:
        environ = os.environ if environ is None else environ
        clock = _begin_clock()
        try:
            text = _answer(given, stdin, environ, ending=process)
        except BaseException as error:
            _end_clock(clock)
            clock = None
            text = ""
            _log_failure(environ, given, error)
        if clock is not None:
            _end_clock(clock)
            clock = None
        if text:
            _write(stdout, text)
    except BaseException:  # noqa: S110 (whatever it is: an agent waits, and must not be told no)
        pass
    if process:
        _keep_bundle(bundle)
        os._exit(0)  # everything is closed and written: nothing is worth tearing down a whole Python for
    return 0


def run_hook(call: HookCall, environ: Mapping[str, str], *, now: float, ending: bool = False) -> Answer:
    """Return what brim has to say to *call*. What goes wrong is raised. *ending* is as in ``Place``."""
    from brim.agents.answer import NOTHING

    name = f"brim.agents.handlers.{HANDLERS.get(call.event, '')}"
    if call.event not in HANDLERS:
        return NOTHING
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return NOTHING
    from brim.agents.place import Place

    answer: Answer = NOTHING
    try:
        with Place(environ, call.cwd or _working_folder(), now=now, ending=ending) as place:
            answer = sys.modules[name].handle(call, place)
            if call.event in UNHURRIED:
                place.fold_logs()
    except TimeUp:
        if not answer:
            raise
    return answer


def is_off(environ: Mapping[str, str]) -> bool:
    """Whether hooks answer nothing: ``BRIM_DISABLE`` is set, or brim is paused."""
    if environ.get("BRIM_DISABLE", "").lower() not in ("", "0", "false", "no", "off"):
        return True
    return os.path.exists(os.path.join(_home(environ), PAUSED))


def answer_to(
    event: str, agent: str, data: object, environ: Mapping[str, str], *, now: float, ending: bool = False
) -> str:
    """Return what *agent* is told at its own *event*, in its words; empty for nothing. What goes wrong is raised."""
    from brim.agents.clients import client_of

    if is_off(environ):
        return ""
    if not isinstance(data, dict):
        raise ValueError("what came is no JSON object")
    client = client_of(agent)
    named = data.get("hook_event_name")
    name = event if event in client.EVENTS or not isinstance(named, str) else named
    call = client.call_of(name, data, environ)
    if call is None:
        raise ValueError(f"{agent} has no event {name[:80]!r} that brim knows")
    answer = run_hook(call, environ, now=now, ending=ending)
    return client.reply(call, answer) if answer else ""


def _answer(argv: Sequence[str], stdin: Any, environ: Mapping[str, str], *, ending: bool) -> str:
    import time

    if is_off(environ):
        return ""
    if len(argv) < 2:
        raise ValueError("a hook is called with EVENT and AGENT")
    if len(argv) > 2:  # how much it does: ``brim init --hooks``
        environ = {**environ, "BRIM_HOOKS": argv[2]}
    from brim import _json

    text = _read(stdin)
    data = _json.loads(text)
    if "\\ud" in text or "\\uD" in text:  # a letter that somebody has cut in two may be among them
        from brim.agents.clients.sent import mended

        data = mended(data)
    if environ.get("BRIM_UNLESS_RESIDENT"):  # a server may be asked beside this process
        from brim.agents.claims import may_answer
        from brim.config.places import user_folder

        if not may_answer(argv[0], data, user_folder(environ), now=time.time()):
            return ""
    return answer_to(argv[0], argv[1], data, environ, now=time.time(), ending=ending)


def _read(stdin: Any) -> str:
    """Return what standard input holds, as text; a ``ValueError`` if it is too much."""
    if stdin is None:
        parts = []
        left = LARGEST + 1
        while left > 0 and (part := os.read(0, min(left, 1 << 20))):
            parts.append(part)
            left -= len(part)
        found: Any = b"".join(parts)
    else:
        found = stdin.read(LARGEST + 1)
    if len(found) > LARGEST:
        raise ValueError(f"more than {LARGEST:,} bytes came")
    return found.decode("utf-8", "replace") if isinstance(found, bytes) else str(found)


def _write(stdout: Any, text: str) -> None:
    """Write *text* at once. Whoever does not read it any more is not told."""
    if stdout is not None:
        try:
            stdout.write(text)
        except TypeError:
            stdout.write(text.encode())
        stdout.flush()
        return
    data = text.encode("utf-8", "replace")
    while data:
        data = data[os.write(1, data) :]


def _working_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""


def _fill_standard_streams() -> None:
    """Put something harmless where a standard stream is closed: else the next file that is opened gets its number."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _bundle(argv: Sequence[str]) -> Bundle | None:
    """Let this process find its modules faster; if that fails, they are found as ever."""
    try:
        if not (argv and argv[0].isascii() and argv[0].isalpha() and len(argv[0]) < 40) or is_off(os.environ):
            return None  # no event of anybody, or nothing to be done
        from brim.agents.bundle import bundle_path, use_bundle

        return use_bundle(bundle_path(_home(os.environ), argv[0]))
    except Exception:
        return None


def _home(environ: Mapping[str, str]) -> str:
    """Return the user's folder. The launcher names it: then nothing is imported to find out."""
    if environ.get("BRIM_HOME"):
        return environ["BRIM_HOME"]
    from brim.config.places import user_folder

    return user_folder(environ)


def _keep_bundle(bundle: Bundle | None) -> None:
    """Keep the modules of this process for the next one, if there are new ones. The answer has been given by now."""
    try:
        if bundle is not None:
            bundle.save()
    except BaseException:
        return


def _begin_clock() -> tuple[Any, Any] | None:
    """Let ``TimeUp`` be raised when the time is over, where signals allow it; return what was set before."""
    try:
        import _signal  # type: ignore[import-not-found] # what ``signal`` puts enumerations around

        def ring(*_: object) -> None:
            raise TimeUp

        before = _signal.signal(_signal.SIGALRM, ring)
        return before, _signal.setitimer(_signal.ITIMER_REAL, SECONDS)
    except (ImportError, AttributeError, ValueError):  # Windows, or not the main thread
        return None


def _end_clock(clock: tuple[Any, Any] | None) -> None:
    if clock is None:
        return
    import _signal

    before, timer = clock
    _signal.setitimer(_signal.ITIMER_REAL, 0)
    _signal.signal(_signal.SIGALRM, _signal.SIG_DFL if before is None else before)
    if timer[0]:
        _signal.setitimer(_signal.ITIMER_REAL, *timer)


def _log_failure(environ: Mapping[str, str], argv: Sequence[str], error: BaseException) -> None:
    from brim.agents.log import log

    called = " ".join(str(each)[:60] for each in argv[:2])
    what = "took too long" if isinstance(error, TimeUp) else f"{type(error).__name__}: {error}"
    log(environ, f"{called}: nothing was answered: {what}")
