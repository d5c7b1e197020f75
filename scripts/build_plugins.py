"""Write the plugins of brim for each agent, from what ``brim init`` installs.

    python scripts/build_plugins.py [--check]

With --check, only say which files differ; the exit code is 1 if one does.
"""

from __future__ import annotations

import sys
from pathlib import Path

import brim
from brim.install.plugins import plugin_files

ROOT = Path(__file__).parent.parent


def differing() -> dict[Path, str]:
    """Return the files that aren't as this version builds them, and how they should be."""
    files = {ROOT / name: text for name, text in plugin_files(brim.__version__).items()}
    return {path: text for path, text in files.items() if not path.is_file() or path.read_text("utf-8") != text}


def main() -> int:
    found = differing()
    for path, text in found.items():
        print(path.relative_to(ROOT))
        if "--check" not in sys.argv:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            path.chmod(0o755 if path.parent.name == "bin" else 0o644)
    return int("--check" in sys.argv and bool(found))


if __name__ == "__main__":
    sys.exit(main())
