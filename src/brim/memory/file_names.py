"""One name for each file, however calls and people write it.

Files are named from the folder where the agent works. A person's bare name is the file in a folder
that has it; the bare name in a call is a file of its own. Where the client doesn't say the folder,
an absolute path and a relative path that ends it tell it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from brim.memory.entries import remember

MOST = 20_000


class FileNames:
    """The names of a window's files, seen from *folder*; empty if the client doesn't say it."""

    def __init__(self, folder: str = "") -> None:
        self._folder = ""
        self._paths: dict[str, str] = {}
        """The latest path that a call gave for each bare name."""
        self._absolute: dict[str, None] = {}
        self._mentioned: dict[str, None] = {}
        """Bare names that a person wrote and no call has used."""
        self._renamed: dict[str, str] = {}
        if folder:
            self._set_folder(folder)

    def learn_folder(self, folder: str) -> None:
        """Learn where the agent works, if that isn't known."""
        if folder and not self._folder:
            self._set_folder(folder)

    def _set_folder(self, folder: str) -> None:
        self._folder = folder.rstrip(os.sep) + os.sep
        for path in self._absolute:
            if path.startswith(self._folder):
                self._renamed[path] = path.removeprefix(self._folder)
        self._absolute = {}

    def renamed(self) -> Mapping[str, str]:
        """Return the names that changed since the last time, and what they are now."""
        renamed = self._renamed
        self._renamed = {}
        return renamed

    def called(self, path: str) -> str:
        """Return the name of the file that a call gives as *path*."""
        name = self._from_folder(path)
        self._learn_from(name)
        name = self._from_folder(name)
        bare_name = os.path.basename(name)
        if bare_name in self._mentioned:
            del self._mentioned[bare_name]
            if bare_name != name:
                self._renamed[bare_name] = name
        remember(self._paths, bare_name, name, MOST)
        return name

    def mentioned(self, path: str) -> str:
        """Return the name of the file that a person calls *path*."""
        name = self._from_folder(path)
        if os.sep in name:
            return name
        path_of_call = self._paths.get(name)
        if path_of_call is not None:
            return self._from_folder(path_of_call)
        remember(self._mentioned, name, None, MOST)
        return name

    def _from_folder(self, path: str) -> str:
        path = os.path.normpath(path)
        if not self._folder:
            return path
        return path.removeprefix(self._folder)

    def _learn_from(self, path: str) -> None:
        """Learn the folder if *path* and another are the relative and the absolute path of one."""
        if self._folder:
            return
        if os.path.isabs(path):
            remember(self._absolute, path, None, MOST)
        same_name = self._paths.get(os.path.basename(path), "")
        for absolute, relative in ((path, same_name), (same_name, path)):
            if os.sep in relative and absolute.endswith(os.sep + relative):
                self._set_folder(absolute.removesuffix(relative))
                return
