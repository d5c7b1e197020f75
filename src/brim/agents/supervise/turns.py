"""What comes next in a run: moved to ``brim.run.turns``. This name stays for programs that import it."""

from brim.run.turns import *  # noqa: F403
