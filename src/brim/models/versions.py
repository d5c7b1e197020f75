"""Which prices are in force? They change with brim, its tables and the configuration."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from typing import Any

from brim import __version__


def price_version(prices: Mapping[str, Any]) -> str:
    """Return what changes when prices do: the version, the tables of models, and *prices* of the
    configuration."""
    tables: list[tuple[str, int, int]] = []
    for entry in os.scandir(os.path.join(os.path.dirname(__file__), "data")):
        stat = entry.stat()
        tables.append((entry.name, stat.st_size, stat.st_mtime_ns))
    text = repr((sorted(tables), sorted(prices.items(), key=repr)))
    return f"{__version__}-{zlib.crc32(text.encode('utf-8', 'surrogatepass')):08x}"
