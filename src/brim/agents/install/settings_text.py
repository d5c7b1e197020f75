"""The text of one settings file, edited step by step: each step leaves valid JSON, and what is not named alone.

It remembers what stood in containers that were empty, because that cannot be seen any more once something is in them.
"""

from __future__ import annotations

from brim.agents.install.json_edits import inside, with_inside, with_member, with_value, without_member
from brim.agents.install.json_places import read_places
from brim.errors import InputError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.agents.install.json_places import Node

    Keys = tuple[str | int, ...]

BLANK = "\ufeff \t\r\n"


class SettingsText:
    """*text*, that of the file *path*; a blank one is an empty object. ``text`` is what it has become."""

    def __init__(self, text: str, path: str, *, comments: bool = False, empty: Mapping[str, str] | None = None) -> None:
        self._path, self._comments = path, comments
        self.empty = dict(empty or {})
        """What stood in containers that were empty when something was first put into them, by their keys."""
        self.text = text if text.strip(BLANK) else "{}\n"
        self._root = self._read()
        if not isinstance(self._root.value, dict):
            raise InputError(f"{path}: is not a JSON object, so brim leaves it alone: see what it should hold")

    @property
    def value(self) -> dict[str, Any]:
        """Everything that is set."""
        found: dict[str, Any] = self._root.value
        return found

    def get(self, *keys: str | int) -> Any:
        """Return what stands there; None if nothing does."""
        node = self._node(keys)
        return None if node is None else node.value

    def raw(self, *keys: str | int) -> str:
        """Return what stands there as it is written; empty if nothing does."""
        node = self._node(keys)
        return "" if node is None else self.text[node.start : node.end]

    def check(self, kind: type[object], *keys: str | int) -> None:
        """Raise if something else than a *kind* stands there."""
        found = self._node(keys)
        if found is not None and not isinstance(found.value, kind):
            wanted = "an object" if kind is dict else "a list"
            where = ".".join(map(str, keys))
            raise InputError(
                f"{self._path}: {where} should be {wanted}; nothing was changed: correct it, then try again"
            )

    def put(self, value: object, *keys: str | int) -> None:
        """Set what stands there, with the objects around it if they are missing."""
        above, key = keys[:-1], str(keys[-1])
        node = self._node(keys)
        if node is not None:
            if node.value != value:
                self._become(with_value(self.text, self._root, node, value))
            return
        if self._node(above) is None:
            self.put({}, *above)
        else:
            self._fill(above)
        self._become(with_member(self.text, self._root, self._sure(above), value, key))
        self.empty.pop(_name(keys), None)  # it is new, so nothing stood in it

    def append(self, value: object, *keys: str | int) -> None:
        """Add *value* to the list there, which is made if it is missing."""
        if self._node(keys) is None:
            self.put([], *keys)
        else:
            self._fill(keys)
        self._become(with_member(self.text, self._root, self._sure(keys), value))

    def put_raw(self, raw: str, *keys: str | int) -> None:
        """Write *raw*, which is JSON, in place of what stands there."""
        node = self._sure(keys)
        self._become(self.text[: node.start] + raw + self.text[node.end :])

    def remove(self, *keys: str | int) -> None:
        """Take out what stands there, and what is around it, if it was made for it and nothing else is in it."""
        above = keys[:-1]
        container = self._sure(above)
        self._become(without_member(self.text, container, self._member(container, keys[-1])))  # type: ignore[arg-type]
        container = self._sure(above)
        if container.members:
            return
        left, before = inside(self.text, container).strip(), self.empty.pop(_name(above), None)
        if before is not None and before.strip() == left:
            self._become(with_inside(self.text, container, before))
        elif before is None and not left and above:
            self.remove(*above)

    def _fill(self, keys: Keys) -> None:
        """Remember how an empty container looks, before something is put into it."""
        container = self._sure(keys)
        if not container.members:
            self.empty[_name(keys)] = inside(self.text, container)

    def _become(self, text: str) -> None:
        self.text = text
        self._root = self._read()

    def _read(self) -> Node:
        return read_places(self.text, self._path, comments=self._comments)

    def _sure(self, keys: Keys) -> Node:
        node = self._node(keys)
        if node is None:
            raise KeyError(keys)
        return node

    def _node(self, keys: Keys) -> Node | None:
        node: Node | None = self._root
        for key in keys:
            if node is None:
                return None
            node = self._member(node, key)
        return node

    @staticmethod
    def _member(node: Node, key: str | int) -> Node | None:
        if isinstance(key, str):
            return node.member(key) if isinstance(node.value, dict) else None
        return node.members[key] if isinstance(node.value, list) and key < len(node.members) else None


def _name(keys: Keys) -> str:
    return ".".join(map(str, keys))
