"""Import-only: the names of version 0.1. The code is in ``brim.hooks``, ``install`` and ``supervise``."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.hooks import Answer, HookCall, SessionState, UsageSeen, run_hook, usage_now
    from brim.hooks import HookWorkspace as Place
    from brim.install.launchers import install_launcher, launcher_text

__all__ = [
    "Answer",
    "HookCall",
    "Place",
    "SessionState",
    "UsageSeen",
    "install_launcher",
    "launcher_text",
    "run_hook",
    "usage_now",
]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in ("install_launcher", "launcher_text"):
        from brim.install import launchers as launcher

        return getattr(launcher, name)
    from brim import hooks

    return getattr(hooks, "HookWorkspace" if name == "Place" else name)
