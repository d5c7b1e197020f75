"""Puts index and files together: what is known is taken from the index, the rest is read and put into it."""

from __future__ import annotations

import os
import zlib

from brim import __version__
from brim.cli.output import Progress, note
from brim.errors import InputError
from brim.store.usage_index import Indexed, load_index, save_index
from brim.tracking.readers.scan import TRANSCRIPT, Scan, Stamp
from brim.tracking.readers.scan_files import AGENTS
from brim.tracking.readers.scan_many import Job, scan_many
from brim.tracking.usage.gathered import FileUsage, Gathered, Source
from brim.tracking.usage.prices import Prices
from brim.tracking.usage.request import Request, Total

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from brim.tracking.readers.scan_files import UsageFile

PROGRESS_FROM = 30_000_000
"""Bytes to read from which on a terminal is shown how far it is."""

PROGRESS_FILES = 1_000
"""Files to read from which on it is shown, however small they are."""

_SLUGGED = (TRANSCRIPT, "gemini-transcript")
"""The formats of the files whose place says whose project they are."""


class Reading:
    """What came of reading: everything ``gathered``, how much was read, and what could not be."""

    def __init__(self) -> None:
        self.gathered = Gathered()
        self.files = self.bytes = self.bytes_read = self.broken = 0
        self.failed: list[str] = []
        self.index = "off"
        """``off``, ``used``, or ``unavailable`` if it could not be written."""


def read_all(files: list[UsageFile], *, index: str | None, prices: str, now: float) -> Reading:
    """Read *files*, with the index at the path *index* if one is given; *prices* names the prices in force."""
    known = load_index(index, [file.path for file in files], note) if index else {}
    reading = Reading()
    jobs: list[Job] = []
    waiting: list[UsageFile] = []
    found: dict[str, tuple[str, FileUsage]] = {}
    changed: list[Indexed] = []
    pricing = Prices(now)
    for file in files:
        row = known.get(file.path)
        if row is not None and _is_same(row, file):
            usage = _unpacked(row.found)
            found[file.path] = row.format, usage
            if row.prices != prices:
                pricing.put(usage.requests.values())
                row.prices, row.found = prices, _packed(usage)
                changed.append(row)
        else:
            waiting.append(file)
            jobs.append(_job(file, row))
    size = sum(job.size for job in jobs)
    shown_from = PROGRESS_FROM if len(jobs) < PROGRESS_FILES else 0
    with Progress(size, shown_from=shown_from, doing="reading") as progress:
        for place, scanned in scan_many(jobs, on_read=progress.advance):
            file = waiting[place]
            if isinstance(scanned, InputError):
                if os.path.lexists(file.path):  # one that vanished meanwhile is no problem
                    reading.failed.append(str(scanned))
                continue
            reading.bytes_read += scanned.stamp.size - (jobs[place].start if scanned.resumed else 0)
            pricing.put(scanned.usage.requests.values())
            usage = _merged(known.get(file.path), scanned, prices, pricing)
            found[file.path] = scanned.format, usage
            changed.append(_row(file.path, scanned, usage, prices))
    if index:
        saved = not changed or save_index(index, changed)
        reading.index = "used" if saved else "unavailable"
    _gather(reading, files, found)
    return reading


def price_version(overrides: Mapping[str, Any]) -> str:
    """Return what changes when prices do: the version, the tables of models, and the configuration's *overrides*."""
    folder = os.path.join(os.path.dirname(os.path.dirname(__file__)), "models", "data")
    tables = sorted((each.name, each.stat().st_size, each.stat().st_mtime_ns) for each in os.scandir(folder))
    said = repr((tables, sorted(overrides.items(), key=repr)))
    return f"{__version__}-{zlib.crc32(said.encode('utf-8', 'surrogatepass')):08x}"


def _is_same(row: Indexed, file: UsageFile) -> bool:
    return file.stamp == Stamp(row.inode, row.size, row.modified) and file.format in ("", row.format)


def _job(file: UsageFile, row: Indexed | None) -> Job:
    """Return what is to be read of *file*: if it only grew, a transcript is read from where it was read to."""
    size = file.stamp.size
    grew = row is not None and row.format == TRANSCRIPT and row.inode == file.stamp.inode and row.size < size
    if row is None or not grew or file.format not in ("", TRANSCRIPT):
        return Job(file.path, size, format=file.format, slug=file.slug)
    return Job(
        file.path,
        size - row.read_to,
        format=file.format,
        slug=file.slug,
        start=row.read_to,
        check=row.read_check,
    )


def _merged(row: Indexed | None, scanned: Scan, prices: str, pricing: Prices) -> FileUsage:
    """Return all of a file: what was known, if the scan went on from there, and what was read."""
    if row is None or not scanned.resumed:
        return scanned.usage
    usage = _unpacked(row.found)
    if row.prices != prices:
        pricing.put(usage.requests.values())
    for request in scanned.usage.requests.values():
        usage.add(request)
    for total in scanned.usage.totals.values():
        usage.add_total(total)
    usage.broken += scanned.usage.broken
    usage.folder = usage.folder or scanned.usage.folder
    return usage


def _row(path: str, scanned: Scan, usage: FileUsage, prices: str) -> Indexed:
    stamp = scanned.stamp.fields()
    return Indexed(path, *stamp, scanned.offset, scanned.check, scanned.format, prices, _packed(usage))


def _packed(usage: FileUsage) -> Any:
    requests = [each.fields() for each in usage.requests.values()]
    return [requests, [each.fields() for each in usage.totals.values()], usage.folder, usage.broken]


def _unpacked(found: Any) -> FileUsage:
    requests, totals, folder, broken = found
    return FileUsage([Request(*each) for each in requests], [Total(*each) for each in totals], folder, broken)


def _gather(reading: Reading, files: list[UsageFile], found: Mapping[str, tuple[str, FileUsage]]) -> None:
    names = {
        file.slug: found[file.path][1].folder
        for file in files
        if file.slug and file.path in found and found[file.path][1].folder and found[file.path][0] in _SLUGGED
    }
    for file in files:
        if file.path in found:
            format, usage = found[file.path]
            project = (names.get(file.slug, file.slug) if format in _SLUGGED else "") or usage.folder
            reading.gathered.add(usage, Source(_agent_of(format), project))
            reading.files += 1
            reading.bytes += file.stamp.size
            reading.broken += usage.broken


def _agent_of(format: str) -> str:
    agent, has_kind, _ = format.partition("-")
    return agent if has_kind and agent in AGENTS else format if format == "opencode" else "other"
