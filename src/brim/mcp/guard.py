"""What an error looks like to a client: one sentence, without secrets, and never a traceback."""

from __future__ import annotations

from functools import wraps

from mcp.server.mcpserver.exceptions import ResourceError, ToolError

from brim.errors import BrimError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pydantic import ValidationError

LONGEST = 600
"""Characters of a sentence about what went wrong."""


def guarded(
    function: Callable[..., Any], error: type[ToolError] | type[ResourceError] = ToolError
) -> Callable[..., Any]:
    """Return *function* with every failure told as *error*."""

    @wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        try:
            return function(*arguments, **named)
        except BrimError as problem:
            raise error(said(problem)) from None
        except Exception as problem:  # a defect of ours: what it is called is all that helps a client
            raise error(f"brim has a defect here ({type(problem).__name__}); nothing more is known") from None

    return called


def said(problem: BrimError) -> str:
    """Return what *problem* says, masked, and not longer than helps."""
    from brim.masking import mask

    text = mask(str(problem))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


def said_of_arguments(problem: ValidationError) -> str:
    """Return in one line which arguments are wrong, and how."""
    wrong = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in problem.errors(include_url=False)]
    return "; ".join(wrong)[:LONGEST]
