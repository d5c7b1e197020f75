"""Where do settings come from?

Flag > environment > project file > user file > built-in default, for every setting and on every
command. A library call reads none of them: the command line or a hook loads the settings and hands
them on.

``settings`` declares them all, ``places`` knows the files, ``text`` reads one and changes a setting
in it, ``values`` has what is in force, and ``retention`` how long brim keeps what it writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.config.places import config_paths as config_paths
    from brim.config.places import project_folder as project_folder
    from brim.config.places import user_folder as user_folder
    from brim.config.settings import MODES as MODES
    from brim.config.settings import SETTINGS as SETTINGS
    from brim.config.settings import Setting as Setting
    from brim.config.values import Config as Config
    from brim.config.values import Value as Value
    from brim.config.values import load as load
    from brim.config.values import load_cached as load_cached
else:
    __getattr__, __dir__ = exports(
        __name__,
        places="config_paths project_folder user_folder",
        settings="MODES SETTINGS Setting",
        values="Config Value load load_cached",
    )
