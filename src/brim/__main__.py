"""``python -m brim`` is ``brim``."""

from brim.cli import main

main()
