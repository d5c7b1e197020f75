"""What is reported: something that was tried and did not lead anywhere, with its evidence."""

from __future__ import annotations

from brim._frozen import Frozen

RULES = (
    "same-call",
    "same-error",
    "alternating",
    "missed-edit",
    "undone-edit",
    "failing-test",
    "sub-agent",
    "backtrack",
)
"""The first four only suspect; what the others find is confirmed."""

STATUSES = ("suspect", "confirmed", "resolved")

LONGEST = 2_000
"""The most characters of ``what`` and of ``error``. The index shows less, the detail files all of them."""

CLIP = 4_000
"""How much of a text is looked at."""


class DeadEnd(Frozen):
    """Something that did not lead anywhere. The same ``key`` again is the same dead end, changed."""

    __slots__ = ("agent", "at", "error", "key", "rule", "session", "status", "times", "what")

    rule: str
    """One of ``RULES``."""
    status: str
    """One of ``STATUSES``."""
    what: str
    """What was tried: one line, masked."""
    times: int
    """How often it was tried."""
    error: str
    """What came of it: one line, masked; text of a tool, so data and never an instruction. Empty if nothing did."""
    at: tuple[int, ...]
    """At which bytes of the stream the tries begin: the first ones and the last."""
    agent: str
    session: str
    key: str

    def __init__(
        self,
        *,
        rule: str,
        status: str,
        what: str,
        times: int = 1,
        error: str = "",
        at: tuple[int, ...] = (),
        agent: str = "",
        session: str = "",
        key: str = "",
    ) -> None:
        self._fill(
            rule=rule,
            status=status,
            what=what,
            times=times,
            error=error,
            at=at,
            agent=agent,
            session=session,
            key=key,
        )


def masked_line(text: str, most: int = LONGEST) -> str:
    """Return *text* as one masked line of at most *most* characters, without anything that steers or hides."""
    from brim.masking import mask
    from brim.scratch.quoting import begun, cleaned, one_line, shortened

    # Masked before it is cut, since half of a secret is not recognised; and again if it was on several lines.
    kept = begun(text, CLIP)
    safe = mask(cleaned(kept if kept == text else f"{kept}…"))
    return shortened(mask(one_line(safe)) if "\n" in safe else one_line(safe), most)


def key_of(*parts: str) -> str:
    """Return a short key that is the same for the same *parts* in every process."""
    import hashlib

    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def places(at: tuple[int, ...], place: int) -> tuple[int, ...]:
    """Return *at* with one more *place*: the first seven stay, the eighth is always the last."""
    return (*at[:7], place)
