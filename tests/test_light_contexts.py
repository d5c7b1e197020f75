"""What stands in for ``contextlib`` does what it does, whatever leaves a ``with`` or its generator."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from brim import _light

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LIGHT: Any = _light
"""Any: a type checker sees the standard library's there."""


def plain() -> Iterator[str]:
    yield "given"


def never() -> Iterator[str]:
    yield from ()


def twice() -> Iterator[str]:
    yield "one"
    yield "two"


def swallowing() -> Iterator[str]:
    with contextlib.suppress(BaseException):
        yield "given"


def twice_after_an_error() -> Iterator[str]:
    with contextlib.suppress(BaseException):
        yield "one"
    yield "two"


def raising_before() -> Iterator[str]:
    raise KeyError("before")
    yield "never"


def raising_after() -> Iterator[str]:
    yield "given"
    raise KeyError("after")


def stopping_after() -> Iterator[str]:
    yield "given"
    raise StopIteration("after")


def turning() -> Iterator[str]:
    try:
        yield "given"
    except BaseException as error:
        raise OSError("turned") from error


def turning_silently() -> Iterator[str]:
    try:
        yield "given"
    except BaseException:
        raise RuntimeError("turned") from None


def raising_again() -> Iterator[str]:
    try:
        yield "given"
    except BaseException as error:
        raise error from ValueError("cause")


def finishing() -> Iterator[str]:
    try:
        yield "given"
    finally:
        DONE.append("finished")


DONE: list[str] = []
MANAGERS = [
    plain,
    never,
    twice,
    swallowing,
    twice_after_an_error,
    raising_before,
    raising_after,
    stopping_after,
    turning,
    turning_silently,
    raising_again,
    finishing,
]
ERRORS = [
    None,
    ValueError,
    KeyboardInterrupt,
    GeneratorExit,
    StopIteration,
    RuntimeError,
    SystemExit,
    StopAsyncIteration,
]


def course(make: Any, manager: Callable[[], Iterator[str]], error: type[BaseException] | None) -> list[object]:
    """Everything that can be seen of a ``with``: what it gave, what left it, and what that came from."""
    DONE.clear()
    seen: list[object] = []
    try:
        with make(manager)() as given:
            seen.append(given)
            if error is not None:
                raise error("inside")
        seen.append("after")
    except BaseException as left:
        chain: BaseException | None = left
        while chain is not None:
            seen.append((type(chain), str(chain), chain.__suppress_context__))
            chain = chain.__cause__ or chain.__context__
        frames, trace = [], left.__traceback__
        while trace is not None:
            frames.append(trace.tb_frame.f_code.co_name)
            trace = trace.tb_next
        seen.append([name for name in frames if not name.startswith("__")])
    return [*seen, *DONE]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: getattr(error, "__name__", "none"))
@pytest.mark.parametrize("manager", MANAGERS, ids=lambda manager: manager.__name__)
def test_a_context_manager_behaves_as_the_standard_one(
    manager: Callable[[], Iterator[str]], error: type[BaseException] | None
) -> None:
    assert course(LIGHT.contextmanager, manager, error) == course(contextlib.contextmanager, manager, error)


def test_a_generator_that_does_not_stop_is_closed_at_once() -> None:
    def going_on() -> Iterator[str]:
        try:
            yield "one"
            yield "two"
        finally:
            DONE.append("closed")

    DONE.clear()
    kept = LIGHT.contextmanager(going_on)()
    with pytest.raises(RuntimeError, match="didn't stop"), kept:
        pass
    assert DONE == ["closed"]


@pytest.mark.parametrize("error", [ValueError, KeyError, LookupError, KeyboardInterrupt])
@pytest.mark.parametrize("kinds", [(), (LookupError,), (KeyError, ValueError), (BaseException,)])
def test_what_is_suppressed_is_what_the_standard_one_suppresses(
    kinds: tuple[Any, ...], error: type[BaseException]
) -> None:
    def left(suppress: Any) -> object:
        try:
            with suppress(*kinds):
                raise error
        except BaseException as found:
            return type(found)
        return None

    assert left(LIGHT.suppress) == left(contextlib.suppress)
