"""Supervised runs: moved to ``brim.run``. This name stays for programs that import it."""

from brim.run import ClientCommand, Face, RunReport, Supervisor, client_command, supervised

__all__ = ["ClientCommand", "Face", "RunReport", "Supervisor", "client_command", "supervised"]
