"""YAML with the line of every key."""

from __future__ import annotations

import re
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


CHAIN = list(zip("abcdefgh", "bcdefghi", strict=True))
HOSTILE = {
    "aliases of aliases": "a: &a [x, x, x, x, x, x, x, x, x]\n"
    + "".join(f"{to}: &{to} [{', '.join([f'*{of}'] * 9)}]\n" for of, to in CHAIN),
    "merges of merges": "a: &a {x: 1}\n"
    + "".join(f"{to}: &{to}\n  <<: [{', '.join([f'*{of}'] * 9)}]\n" for of, to in CHAIN),
    "a list that holds itself": "a: &a [*a]\n",
    "a merge of itself": "a: &a {<<: *a}\n",
    "deep lists": "a: " + "[" * 20_000 + "]" * 20_000,
    "deep lists without an end": "a: " + "[" * 200_000,
    "deep mappings": "a: " + "{a: " * 20_000,
    "deep blocks": "".join(f"{' ' * depth}a:\n" for depth in range(1_000)),
    "lists in lines": "a:\n  " + "- " * 20_000 + "x",
    "many values": "a: [" + "1," * 400_000 + "]",
    "many keys": "".join(f"k{number}: 1\n" for number in range(60_000)),
    "a number to the base of 60": "a: 1" + ":59" * 300_000,
    "a fraction to the base of 60": "a: 1" + ":59" * 20_000 + ".5",
    "a number in bits": "a: 0b" + "1" * 900_000,
    "a number with a tag": "a: !!int '" + "9" * 900_000 + "'",
    "no such day": "a: 2001-99-99",
    "a control character": "a: 1\nb: \0",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_yaml_is_refused_soon_with_its_line(text: str) -> None:
    """A cloned repository brings its configuration with it: a short file must not stop the
    machine."""
    code = (
        "import resource, sys\n"
        "if sys.platform == 'linux': resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28))\n"  # macOS refuses that
        "resource.setrlimit(resource.RLIMIT_CPU, (3, 3))\n"
        "from brim.config.text import read_mapping\nfrom brim.errors import ConfigError\n"
        "try: read_mapping(sys.stdin.read(), 'file')\nexcept ConfigError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=text, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr[-300:]
    assert re.match(r"config: file:\d+: ", done.stdout)


def test_what_a_person_writes_is_within_the_bounds() -> None:
    text = "base: &b {x: 1, y: [1, 2]}\n" + "".join(
        f"k{number}: {{<<: *b, z: 0x1f}}\n" for number in range(800)
    )
    assert read_mapping(text, "file")[0]["k799"] == {"x": 1, "y": [1, 2], "z": 31}
    assert read_mapping("a: " + "[" * 90 + "]" * 90, "file")[0]["a"]
    assert read_mapping("a: 12:30:45\nb: 1e300\nc: '" + "9" * 500 + "'", "file")[0]["a"] == 45_045
