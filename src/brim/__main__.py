"""``python -m brim`` is ``brim``."""

from brim.cli import main

if __name__ == "__main__":
    main()
