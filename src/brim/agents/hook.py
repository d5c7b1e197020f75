"""Import-only: launchers that version 0.1 installed run ``main`` from here. The code is in ``brim.hooks``."""

from __future__ import annotations

from brim.hooks.process import PAUSED, answer_to, is_off, main, run_hook

__all__ = ["PAUSED", "answer_to", "is_off", "main", "run_hook"]
