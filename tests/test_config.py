"""Settings: which files are read, which value wins, and what an error says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from brim import config, tokens
from brim._yaml import read_mapping
from brim.config import SETTINGS, config_files, load, project_folder, user_folder
from brim.errors import ConfigError


class Places:
    """A home and a project in it."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = self.home / "src" / "shop"
        self.inside = self.project / "a" / "b"
        self.inside.mkdir(parents=True)
        self.environ = {"HOME": str(self.home)}

    def write(self, folder: Path, content: str | bytes) -> str:
        path = folder / ".brim" / "config.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


# Folders


def test_the_users_folder_is_in_the_home_unless_it_is_set(places: Places) -> None:
    assert user_folder(places.environ) == str(places.home / ".brim")
    assert user_folder({**places.environ, "BRIM_HOME": "/elsewhere"}) == "/elsewhere"
    assert user_folder({**places.environ, "BRIM_HOME": ""}) == str(places.home / ".brim")


def test_the_project_is_the_nearest_folder_with_settings(places: Places) -> None:
    (places.project / ".brim").mkdir()
    (places.home / "src" / ".brim").mkdir()
    assert project_folder(places.environ, str(places.inside)) == str(places.project)


def test_without_settings_the_project_is_gits(places: Places) -> None:
    (places.project / ".git").mkdir()
    assert project_folder(places.environ, str(places.inside)) == str(places.project)


def test_settings_above_outrank_a_repository_below(places: Places) -> None:
    (places.project / ".brim").mkdir()
    (places.inside / ".git").mkdir()
    assert project_folder(places.environ, str(places.inside)) == str(places.project)


def test_a_worktree_whose_git_is_a_file_is_a_project(places: Places) -> None:
    (places.project / ".git").write_text("gitdir: elsewhere\n")
    assert project_folder(places.environ, str(places.inside)) == str(places.project)


@pytest.mark.parametrize("mark", [".brim", ".git"])
def test_the_home_is_never_a_project(places: Places, mark: str) -> None:
    (places.home / mark).mkdir()
    assert project_folder(places.environ, str(places.inside)) is None
    assert project_folder(places.environ, str(places.home)) is None
    assert project_folder({"HOME": f"{places.home}/"}, str(places.inside)) is None


def test_a_home_behind_a_symbolic_link_is_never_a_project(places: Places, tmp_path: Path) -> None:
    """The working folder is always the real one; ``HOME`` is as it was written."""
    (tmp_path / "link").symlink_to(places.home)
    (places.home / ".brim").mkdir()
    assert project_folder({"HOME": str(tmp_path / "link")}, str(places.inside)) is None


def test_the_weaker_file_is_read_first(places: Places) -> None:
    assert config_files(places.environ, str(places.inside)) == []
    project = places.write(places.project, "")
    assert config_files(places.environ, str(places.inside)) == [project]
    user = places.write(places.home, "")
    assert config_files(places.environ, str(places.inside)) == [user, project]


def test_a_file_is_not_read_twice(places: Places) -> None:
    project = places.write(places.project, "mode: exact\n")
    environ = {**places.environ, "BRIM_HOME": str(places.project / ".brim")}
    assert config_files(environ, str(places.inside)) == [project]


# Values


def test_nothing_set_is_every_default(places: Places) -> None:
    config = load(places.environ, str(places.inside))
    assert {key: value.origin for key, value in config.values.items()} == {each.key: "default" for each in SETTINGS}
    assert (config["model"], config["mode"], config["models"]) == (None, "auto", {})


def test_each_source_is_stronger_than_the_next(places: Places) -> None:
    flags: dict[str, object] = {}
    environ = dict(places.environ)

    def found() -> tuple[object, str]:
        return load(environ, str(places.inside), flags).values["mode"]

    user = places.write(places.home, "mode: exact\n")
    assert found() == ("exact", f"{user}:1")
    project = places.write(places.project, "\nmode: approximate\n")
    assert found() == ("approximate", f"{project}:2")
    environ["BRIM_MODE"] = "api"
    assert found() == ("api", "BRIM_MODE")
    flags["mode"] = None
    assert found() == ("api", "BRIM_MODE")
    flags["mode"] = "auto"
    assert found() == ("auto", "--mode")


def test_each_file_may_name_models_and_the_stronger_has_a_model_whole(places: Places) -> None:
    places.write(places.home, "models:\n  a: {context_window: 1, max_output: 1}\n  b: {context_window: 2}\n")
    places.write(places.project, "models:\n  a: {context_window: 3}\n")
    assert load(places.environ, str(places.inside))["models"] == {
        "a": {"context_window": 3},
        "b": {"context_window": 2},
    }


def test_one_model_in_two_spellings_is_the_stronger_files(places: Places) -> None:
    from brim.models import model, use

    places.write(places.home, "models:\n  GPT-4o: {context_window: 1000}\n")
    places.write(places.project, "models:\n  gpt-4o: {context_window: 2000}\n")
    try:
        use(load(places.environ, str(places.inside))["models"])
        assert model("gpt-4o").context_window == 2_000
    finally:
        use({})


def test_where_names_the_line_of_a_key_or_of_the_nearest_above_it(places: Places) -> None:
    path = places.write(places.project, "mode: auto\nmodels:\n  gpt-4.1:\n    context_window: 5\n")
    config = load(places.environ, str(places.inside))
    assert config.where("models.gpt-4.1.context_window") == f"{path}:4"
    assert config.where("models.gpt-4.1.like") == f"{path}:3"
    assert config.where("models.other") == f"{path}:2"
    assert config.where("model") == ""


def test_loading_changes_no_default(places: Places) -> None:
    places.write(places.project, "models:\n  mine: {context_window: 5}\n")
    load(places.environ, str(places.inside))
    assert load(places.environ, str(places.home))["models"] == {}


# Errors


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("mode: auto\nmodle: x\n", "{path}:2: unknown key modle; there are model, mode, models"),
        ("mode: fast\n", "{path}:1: mode must be one of auto, approximate, exact, api, not 'fast'"),
        ("mode: no\n", "{path}:1: mode must be a text, not False"),
        ("model:\n", "{path}:1: model must be a text, not None"),
        ("models: []\n", "{path}:1: models must be a mapping, not []"),
        ("- x\n", "{path}:1: must be a mapping"),
        ("just a text\n", "{path}:1: must be a mapping"),
        ("mode: auto\nmode: exact\n", "{path}:2: mode is set twice"),
        ("models:\n  a: {like: x, like: y}\n", "{path}:2: models.a.like is set twice"),
        ("1: x\n", "{path}:1: a key must be a text"),
        ("? [a, b]\n: x\n", "{path}:1: a key must be a text"),
        ("mode: [auto\n", "{path}:2: not valid YAML"),
        ("mode: *nothing\n", "{path}:1: not valid YAML"),
        ("mode: !!python/object/apply:os.system [ls]\n", "{path}:1: not valid YAML"),
        ("mode: auto\n---\nmode: exact\n", "{path}:2: not valid YAML"),
        ("model: 2026-99-99\n", "{path}"),
        (b"model: caf\xe9\n", "{path}: not UTF-8 text"),
        (b"model: a\0b\n", "{path}: not valid YAML"),
    ],
)
def test_an_error_says_where_and_what(places: Places, content: str | bytes, message: str) -> None:
    path = places.write(places.project, content)
    with pytest.raises(ConfigError) as caught:
        load(places.environ, str(places.inside))
    assert str(caught.value).startswith("config: " + message.format(path=path))
    assert "\n" not in str(caught.value)


def test_a_wrong_variable_is_an_error_that_names_it(places: Places) -> None:
    with pytest.raises(ConfigError, match="BRIM_MODE: mode must be one of"):
        load({**places.environ, "BRIM_MODE": "fast"}, str(places.inside))


@pytest.mark.parametrize("content", ["", "\n\n", "# nothing\n", "---\n", "\ufeffmode: auto\n", "mode: auto\r\n"])
def test_a_file_that_sets_nothing_unusual_is_fine(places: Places, content: str) -> None:
    places.write(places.project, content)
    assert load(places.environ, str(places.inside))["mode"] == "auto"


def test_a_file_too_large_for_a_configuration_is_refused(places: Places) -> None:
    places.write(places.project, "# " + "x" * 1_000_000 + "\n")
    with pytest.raises(ConfigError, match="larger than 1,000,000 bytes"):
        load(places.environ, str(places.inside))


def test_a_folder_is_no_configuration(places: Places) -> None:
    (places.project / ".brim" / "config.yaml").mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"config\.yaml: "):
        load(places.environ, str(places.inside))


# YAML


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
        read_mapping("{a: " * 20_000 + "1" + "}" * 20_000, "file")


def test_aliases_of_aliases_do_not_multiply() -> None:
    """A cloned repository brings its configuration with it: forty short lines must not stop the machine."""
    bomb = "a0: &a0 {x: {y: 1}}\\n" + "".join(f"a{n}: &a{n} {{p: *a{n - 1}, q: *a{n - 1}}}\\n" for n in range(1, 40))
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))\n"
        "from brim._yaml import read_mapping\nfrom brim.errors import ConfigError\n"
        f"try: read_mapping('{bomb}', 'file')\nexcept ConfigError: pass"
    )
    done = subprocess.run([sys.executable, "-c", code], timeout=20, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-300:]


def test_the_modes_of_the_configuration_are_those_of_the_counters() -> None:
    assert config.MODES == tokens.MODES
