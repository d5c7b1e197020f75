"""A home and a project in it, for settings to stand in."""

from __future__ import annotations

from pathlib import Path


class Places:
    """A home and a project in it."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = self.home / "src" / "shop"
        self.inside = self.project / "a" / "b"
        self.inside.mkdir(parents=True)
        self.environ = {"HOME": str(self.home)}

    def write(self, folder: Path, content: str | bytes) -> str:
        path = folder / ".brim" / "config.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)
