"""A hook has the same settings as everybody, and reads YAML only when a file has changed."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from brim.config import load
from brim.config.values import cache_path
from brim.config.values import load_cached as load_cached_now
from brim.errors import ConfigError
from tests.config.places import Places

LATER = 4e9
"""A time at which no file was changed a moment ago."""
load_cached = partial(load_cached_now, now=LATER)

HEAVY = {"yaml", "pathlib", "logging", "brim.config.text", "difflib"}


def imported(places: Places, code: str = "load_cached(environ, cwd)", **environ: str) -> set[str]:
    """Which heavy modules a fresh process has imported after loading the settings of the
    project."""
    script = (
        "import sys; before = set(sys.modules)\n"
        "from functools import partial\n"
        "from brim.config import load, load_cached\n"
        f"load_cached = partial(load_cached, now={LATER})\n"
        f"environ, cwd = { ({**places.environ, **environ})!r}, {str(places.inside)!r}\n"
        f"{code}\n"
        "print(*(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    return set(done.stdout.split()) & HEAVY


def the_cache(places: Places) -> Path:
    [found] = (places.home / ".brim" / "cache").iterdir()
    return found


def same(places: Places, **environ: str) -> bool:
    """Whether a hook is told what everybody is told, values and origins."""
    everything = {**places.environ, **environ}
    found = load_cached(everything, str(places.inside))
    return found.values == load(everything, str(places.inside)).values


@pytest.fixture
def settled(places: Places) -> Places:
    """Both files, and a cache of them."""
    places.write(places.home, "mode: exact\ntiers:\n  full: 0.8\n")
    places.write(
        places.project, "token_budget:\n  default: null\nmodels:\n  mine: {like: gpt-4o}\n"
    )
    load_cached(places.environ, str(places.inside))
    return places


def test_yaml_is_read_once(settled: Places) -> None:
    the_cache(settled).unlink()
    assert "yaml" in imported(settled)
    assert imported(settled) == set()


def test_the_environment_needs_no_yaml(settled: Places) -> None:
    assert (
        imported(settled, "assert load_cached(environ, cwd)['mode'] == 'api'", BRIM_MODE="api")
        == set()
    )


def test_without_files_nothing_is_read_and_nothing_written(places: Places) -> None:
    (places.project / ".brim").mkdir()
    assert imported(places) == set()
    assert imported(places, "load(environ, cwd)") == set()
    assert not (places.home / ".brim").exists()


def test_a_hook_is_told_what_everybody_is_told(settled: Places) -> None:
    assert same(settled)
    assert same(settled, BRIM_TIERS_FULL="0.9", FLOOP_TOKEN_BUDGET="7")
    found = load_cached(settled.environ, str(settled.inside))
    assert (
        found.where("models.mine.like")
        == load(settled.environ, str(settled.inside)).where("models.mine.like")
        != ""
    )


def test_flags_are_on_top(settled: Places) -> None:
    found = load_cached(settled.environ, str(settled.inside), {"mode": "api"})
    assert found.values["mode"] == ("api", "--mode")


@pytest.mark.parametrize("folder", ["home", "project"])
def test_a_changed_file_is_read_again(settled: Places, folder: str) -> None:
    settled.write(getattr(settled, folder), "mode: approximate\n")
    assert load_cached(settled.environ, str(settled.inside))["mode"] == "approximate"
    assert imported(settled, "assert load_cached(environ, cwd)['mode'] == 'approximate'") == set()


def test_a_file_of_the_same_size_and_time_but_another_is_read_again(settled: Places) -> None:
    path = settled.home / ".brim" / "config.yaml"
    before = path.stat()
    other = path.with_name("other")
    other.write_text(path.read_text().replace("0.8", "0.9"))
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(path)
    assert load_cached(settled.environ, str(settled.inside))["tiers.full"] == 0.9


def test_a_change_that_size_and_time_do_not_show_is_read(settled: Places) -> None:
    path = settled.home / ".brim" / "config.yaml"
    before = path.stat()
    path.write_text(path.read_text().replace("0.8", "0.9"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert load_cached(settled.environ, str(settled.inside))["tiers.full"] == 0.9


def test_a_file_that_was_changed_just_now_is_not_cached(places: Places) -> None:
    """Two changes within one tick of the disk's clock have one stamp."""
    places.write(places.home, "tiers: {full: 0.8}\n")
    for number in (8, 9) * 20:
        (places.home / ".brim" / "config.yaml").write_text(f"tiers: {{full: 0.{number}}}\n")
        assert (
            load_cached_now(places.environ, str(places.inside), now=time.time())["tiers.full"]
            == number / 10
        )
    assert not (places.home / ".brim" / "cache").exists()


def test_a_file_that_went_away_sets_nothing(settled: Places) -> None:
    (settled.home / ".brim" / "config.yaml").unlink()
    assert load_cached(settled.environ, str(settled.inside))["mode"] == "auto"


def test_a_file_that_came_is_read(places: Places) -> None:
    places.write(places.home, "mode: exact\n")
    (places.project / ".git").mkdir()
    assert load_cached(places.environ, str(places.inside))["mode"] == "exact"
    places.write(places.project, "mode: approximate\n")
    assert load_cached(places.environ, str(places.inside))["mode"] == "approximate"


def test_each_project_has_a_cache_of_its_own(settled: Places) -> None:
    load_cached(settled.environ, None)
    assert len(list((settled.home / ".brim" / "cache").iterdir())) == 2
    assert imported(settled) == set()


def test_two_projects_that_share_a_name_are_told_apart(settled: Places) -> None:
    other = Places(settled.home / "other")
    other.write(other.project, "mode: approximate\n")
    kept = the_cache(settled).read_text()
    paths = [f"{settled.home}/.brim/config.yaml", f"{other.project}/.brim/config.yaml"]
    Path(cache_path(f"{settled.home}/.brim", paths)).write_text(kept)
    assert load_cached(settled.environ, str(other.inside))["mode"] == "approximate"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"format": 1}',
        b'{"format": 99}',
    ],
    ids=lambda content: repr(content[:12]),
)
def test_a_broken_cache_is_written_anew(settled: Places, content: bytes) -> None:
    the_cache(settled).write_bytes(content)
    assert same(settled)
    assert imported(settled) == set()


@pytest.mark.parametrize(
    "values",
    [
        {"nonsense": [1, "x"]},
        {"mode": ["fast", "x"]},
        {"mode": 5},
        {"tiers.full": [9, "x"]},
        [],
        None,
    ],
)
def test_what_the_cache_says_is_checked(settled: Places, values: object) -> None:
    kept = json.loads(the_cache(settled).read_text())
    the_cache(settled).write_text(json.dumps({**kept, "values": values}))
    assert same(settled)


@given(st.binary(max_size=200), st.integers(0, 2_000), st.booleans())
def test_no_damage_changes_what_is_told(content: bytes, at: int, cut: bool) -> None:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        places = Places(Path(folder))
        places.write(places.home, "mode: exact\n")
        load_cached(places.environ, None)
        cache = the_cache(places)
        whole = cache.read_bytes()
        cache.write_bytes(whole[:at] + content + (b"" if cut else whole[at:]))
        assert load_cached(places.environ, None)["mode"] == "exact"


def test_a_cache_that_cannot_be_written_is_no_error(places: Places) -> None:
    places.write(places.home, "mode: exact\n")
    (places.home / ".brim" / "cache").write_text("in the way")
    assert load_cached(places.environ, None)["mode"] == "exact"


def test_no_folder_is_made_for_a_user_who_has_none(places: Places) -> None:
    places.write(places.project, "mode: exact\n")
    assert load_cached(places.environ, str(places.inside))["mode"] == "exact"
    assert not (places.home / ".brim").exists()


def test_a_value_that_json_has_not_is_no_error(places: Places) -> None:
    places.write(places.home, "models:\n  mine: {like: 2026-01-01}\n")
    assert same(places)


def test_a_wrong_file_is_an_error_every_time(settled: Places) -> None:
    settled.write(settled.home, "mode: fast\n")
    for _ in range(2):
        with pytest.raises(ConfigError, match="must be one of"):
            load_cached(settled.environ, str(settled.inside))


def test_the_cache_is_for_its_owner_and_holds_nothing_of_the_environment(places: Places) -> None:
    places.write(places.home, "mode: exact\n")
    load_cached({**places.environ, "BRIM_MODEL": "from-outside", "BRIM_MODE": "api"}, None)
    cache = the_cache(places)
    assert "from-outside" not in cache.read_text()
    assert json.loads(cache.read_text())["files"]["user"]["mode"][0] == "exact"
    if os.name == "posix":
        assert stat.S_IMODE(cache.stat().st_mode) == 0o600
        assert stat.S_IMODE(cache.parent.stat().st_mode) == 0o700


# What is wrong


def test_with_problems_what_is_wrong_is_left_out_and_noted(places: Places) -> None:
    user = places.write(places.home, "colour: red\nspend: {limit: 5, warn: x}\n")
    project = places.write(places.project, "tiers: {full: 0.1}\nspend: {limit: 3}\n")
    problems: dict[str, str] = {}
    environ = {**places.environ, "BRIM_TOKEN_BUDGET": "2k", "BRIM_MODE": "exact"}
    found = load_cached(environ, str(places.inside), problems=problems)
    assert problems["user"].startswith(f"config: {user}:1: unknown key colour")
    assert (
        problems["project"]
        == f"config: {project}:1: tiers.full (0.1) is less than tiers.summary (0.3)"
    )
    assert (found["spend.limit"], found["spend.warn"], found["tiers.full"]) == (3, 0.8, 0.7)
    assert (found["mode"], found["token_budget.default"]) == ("exact", 2_000)


def test_of_a_file_that_cannot_be_read_the_last_settings_stay(places: Places) -> None:
    for folder, limit in ((places.home, 5), (places.project, 3)):
        text = f"spend: {{limit: {limit}}}\n"
        places.write(folder, text)
        assert load_cached(places.environ, str(places.inside))["spend.limit"] == limit
        places.write(folder, text.replace("}", ""))
        for _ in range(2):
            problems: dict[str, str] = {}
            assert (
                load_cached(places.environ, str(places.inside), problems=problems)["spend.limit"]
                == limit
            )
            assert problems.keys() == {"user" if folder == places.home else "project"}
        with pytest.raises(ConfigError):
            load_cached(places.environ, str(places.inside))
        places.write(folder, text)
