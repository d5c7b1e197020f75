"""Where do settings come from?

Flag > environment > project file > user file > built-in default, for every setting and on every command. A library
call reads none of them: whoever opens a door (the command line, a hook) loads the settings and hands them on.

Bottom-up: ``setting`` is one thing that can be set, and what it may be; ``table`` lists them all; ``places`` knows the
files; ``reading`` turns a file into values with the line of each; ``loading`` lets the strongest win; ``cache`` gives a
hook the same without the YAML reader; ``editing`` changes one key in the text of a file.
"""

from __future__ import annotations

from brim._lazy import exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from brim.config.cache import load_cached as load_cached
    from brim.config.loading import Config as Config
    from brim.config.loading import Value as Value
    from brim.config.loading import load as load
    from brim.config.places import config_files as config_files
    from brim.config.places import config_paths as config_paths
    from brim.config.places import project_folder as project_folder
    from brim.config.places import user_folder as user_folder
    from brim.config.setting import Setting as Setting
    from brim.config.table import MODES as MODES
    from brim.config.table import SETTINGS as SETTINGS

__all__ = [
    "MODES",
    "SETTINGS",
    "Config",
    "Setting",
    "Value",
    "config_files",
    "config_paths",
    "load",
    "load_cached",
    "project_folder",
    "user_folder",
]

__getattr__, __dir__ = exports(
    __name__,
    {
        "MODES": "table",
        "SETTINGS": "table",
        "Config": "loading",
        "Setting": "setting",
        "Value": "loading",
        "config_files": "places",
        "config_paths": "places",
        "load": "loading",
        "load_cached": "cache",
        "project_folder": "places",
        "user_folder": "places",
    },
)
