"""Write the plugins of brim for each agent, from what ``brim init`` installs: ``python scripts/build_plugins.py``."""

from __future__ import annotations

from pathlib import Path

import brim
from brim.install.plugins import plugin_files

ROOT = Path(__file__).parent.parent

if __name__ == "__main__":
    for name, text in plugin_files(brim.__version__).items():
        path = ROOT / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if path.parent.name == "bin":
            path.chmod(0o755)
        print(name)
