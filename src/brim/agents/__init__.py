"""Import-only: module paths of version 0.1. The code is in ``brim.hooks``, ``brim.install`` and ``brim.run``."""
