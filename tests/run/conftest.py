"""The real command, in a home of its own."""

from __future__ import annotations

from tests.cli.conftest import brim

__all__ = ["brim"]
