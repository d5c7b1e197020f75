"""The programs that brim is compared with, as ``scripts/bench`` installs them: from npm, and Claude
Code."""

from __future__ import annotations

import json
from dataclasses import dataclass

from report import ROOT

NODE = ROOT / ".bench" / "node" / "node_modules"


@dataclass(frozen=True)
class Program:
    """A program in a package from npm."""

    name: str
    package: str
    path: str
    runner: tuple[str, ...] = ()
    """What runs it, if it can't run alone."""

    @property
    def command(self) -> list[str]:
        """What is typed to run it."""
        return [*self.runner, str(NODE / self.package / self.path)]

    @property
    def version(self) -> str | None:
        """The installed version, or None if it isn't here."""
        about = NODE / self.package / "package.json"
        return (
            str(json.loads(about.read_text(encoding="utf-8"))["version"])
            if about.exists()
            else None
        )


CCUSAGE_18 = Program("ccusage 18", "ccusage-18", "dist/index.js", ("node",))
CCUSAGE = Program(
    "ccusage 20", "@ccusage/ccusage-linux-x64", "bin/ccusage"
)  # what its launcher for Node starts
CCSTATUSLINE = Program("ccstatusline", "ccstatusline", "dist/ccstatusline.js", ("node",))
BUN = Program("bun", "@oven/bun-linux-x64", "bin/bun")
CLAUDE_MEM = Program(
    "claude-mem", "claude-mem", "plugin/scripts/worker-service.cjs", tuple(BUN.command)
)


def present(*programs: Program) -> dict[str, Program]:
    """Return those of *programs* that are here, by name."""
    return {each.name: each for each in programs if each.version}
