"""YAML with the line of every key."""

from __future__ import annotations

import subprocess
import sys

import pytest

from brim.config.text import read_mapping
from brim.errors import ConfigError


def test_the_line_of_every_key_is_noted() -> None:
    values, lines = read_mapping("a: 1\n\nb:\n  c:\n    d: [x]\n  e: {f: 2}\n", "file")
    assert values == {"a": 1, "b": {"c": {"d": ["x"]}, "e": {"f": 2}}}
    assert lines == {
        "a": "file:1",
        "b": "file:3",
        "b.c": "file:4",
        "b.c.d": "file:5",
        "b.e": "file:6",
        "b.e.f": "file:6",
    }


def test_merged_and_aliased_mappings_are_read() -> None:
    values, lines = read_mapping("base: &b {x: 1}\nmore:\n  <<: *b\n  y: 2\nsame: *b\n", "file")
    assert values == {"base": {"x": 1}, "more": {"x": 1, "y": 2}, "same": {"x": 1}}
    assert lines["same"] == "file:5"


def test_a_mapping_that_holds_itself_ends() -> None:
    with pytest.raises(ConfigError):
        read_mapping("a: &a {b: *a}\n<<: *a\na: 1\n", "file")
    with pytest.raises(ConfigError, match="file"):
        read_mapping("a: &a {b: *a}\n", "file")


def test_nesting_without_end_is_refused() -> None:
    with pytest.raises(ConfigError, match="file"):
        read_mapping("{a: " * 3_000 + "1" + "}" * 3_000, "file")


def test_aliases_of_aliases_do_not_multiply() -> None:
    """A cloned repository brings its configuration with it: forty short lines must not stop the machine."""
    bomb = "a0: &a0 {x: {y: 1}}\\n" + "".join(f"a{n}: &a{n} {{p: *a{n - 1}, q: *a{n - 1}}}\\n" for n in range(1, 40))
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "from brim.config.text import read_mapping\nfrom brim.errors import ConfigError\n"
        f"try: read_mapping('{bomb}', 'file')\nexcept ConfigError: pass"
    )
    done = subprocess.run([sys.executable, "-c", code], timeout=20, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-300:]
