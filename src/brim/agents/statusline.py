"""Import-only: launchers of version 0.1 run ``main`` from here. The code is in ``brim.hooks.statusline``."""

from __future__ import annotations

from brim.hooks.statusline import main

__all__ = ["main"]
