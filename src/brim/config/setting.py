"""``Setting``: one thing that can be set, and what it may be."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

WORDS = {
    "text": "a text",
    "whole": "a whole number",
    "number": "a number",
    "flag": "true or false",
    "mapping": "a mapping",
}
"""The kinds of values, and what an error calls them."""

FLAGS = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
"""How true and false are written in the environment; a file has YAML's own words."""

NONE_WORDS = ("none", "null")
"""How the absence of a value is written outside a file; a setting's own word for it is taken too."""

SHOWN = 60
"""So many characters of a wrong value are shown."""


class Setting:
    """One thing that can be set.

    *none* says what no value means (``unlimited``); if it is empty, there must be a value. Of the *variables* the first
    that is set counts. A setting that *follows* another one takes its value if that was set and is greater than the
    default, and this one was not set itself. What *lowers* can be made stricter by a project's file, and nothing else:
    a cloned repository must not spend somebody's money. No value is the highest, the first choice the lowest.
    """

    __slots__ = (
        "choices",
        "default",
        "flag",
        "follows",
        "help",
        "key",
        "kind",
        "least",
        "lowers",
        "most",
        "none",
        "variables",
    )

    def __init__(
        self,
        key: str,
        kind: str,
        default: object,
        help: str,
        *,
        variables: tuple[str, ...] | None = None,
        flag: str = "",
        choices: tuple[str, ...] = (),
        least: float | None = None,
        most: float | None = None,
        none: str = "",
        follows: str = "",
        lowers: bool = False,
    ) -> None:
        self.key, self.kind, self.default, self.help = key, kind, default, help
        self.variables = (f"BRIM_{key.replace('.', '_').upper()}",) if variables is None else variables
        self.flag = flag or f"--{key.rpartition('.')[2].replace('_', '-')}"
        self.choices, self.least, self.most = choices, least, most
        self.none, self.follows, self.lowers = none, follows, lowers

    def checked(self, value: object) -> Any:
        """Return *value* as this setting has it; raise ``ValueError`` with what it must be."""
        if self.none and (value is None or value == self.none or (value is False and self.none == "off")):
            return None  # YAML reads a bare ``off`` as false
        if not _is_of(self.kind, value):
            raise ValueError(f"must be {WORDS[self.kind]}, not {_shown(value)}")
        if self.choices and value not in self.choices:
            raise ValueError(f"must be one of {', '.join(self.choices)}, not {_shown(value)}")
        if self._outside(value):
            raise ValueError(f"must be {self._range()}, not {_shown(value)}")
        return float(value) if self.kind == "number" else value  # type: ignore[arg-type] # it is a number

    def parsed(self, text: str) -> Any:
        """Return the value that *text* means in a variable or on the command line; raise ``ValueError`` if none."""
        word = text.strip().lower()
        if self.none and word in (*NONE_WORDS, self.none):
            return None
        if self.kind == "flag":
            return self.checked(FLAGS.get(word, text))
        if self.kind in ("whole", "number"):
            try:
                number = int(word) if self.kind == "whole" else float(word)
            except ValueError:
                raise ValueError(f"must be {WORDS[self.kind]}, not {_shown(text)}") from None
            return self.checked(number)
        return self.checked(text)

    def is_lower(self, value: Any, than: Any) -> bool:
        """Whether *value* is stricter than another value of this setting."""
        if value is None or than is None:
            return value is not None and than is None
        if self.choices:
            return self.choices.index(value) < self.choices.index(than)
        return bool(value < than)

    def shown(self, value: object) -> str:
        """Return *value* for a person to read, so that ``parsed`` takes it back."""
        if value is None:
            return self.none
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, dict):
            return ", ".join(value)
        return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)

    def _outside(self, value: Any) -> bool:
        return (self.least is not None and value < self.least) or (self.most is not None and value > self.most)

    def _range(self) -> str:
        return f"{self.least:g} or more" if self.most is None else f"from {self.least:g} to {self.most:g}"


def _is_of(kind: str, value: object) -> bool:
    if kind == "flag":
        return isinstance(value, bool)
    if kind == "whole":
        return isinstance(value, int) and not isinstance(value, bool)
    if kind == "number":
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e300  # no nan either
    return isinstance(value, str) and bool(value.strip()) if kind == "text" else isinstance(value, dict)


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
