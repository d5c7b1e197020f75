"""What is built for PyPI works in an empty environment, however it is installed: pip, uv, uvx or
pipx.

Nothing is fetched: the packages that brim needs are packed again as they're installed here. uv and
pipx are those on the PATH; without them their tests are left out.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tests.hooks.hook_world import patient

ROOT = Path(__file__).parents[2]
NEEDED = ("argcomplete", "markdown-it-py", "mdurl", "pyyaml")


def run(
    *command: str | Path, environ: Mapping[str, str] | None = None, cwd: Path | None = None
) -> str:
    """Run *command*, which must not fail, and return what it printed."""
    done = subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        env=environ,
        cwd=cwd,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with brim's wheel and sdist, and the wheels that it needs."""
    folder = tmp_path_factory.mktemp("built")
    build = "import sys; from hatchling import build; build.build_sdist(sys.argv[1]); build.build_wheel(sys.argv[1])"
    run(sys.executable, "-c", build, folder, cwd=ROOT)
    for name in NEEDED:
        packed(name, folder)
    return folder


def packed(name: str, folder: Path) -> None:
    """Pack the package *name*, as it is installed here, into a wheel in *folder*."""
    found = distribution(name)
    tag = next(
        line[5:]
        for line in (found.read_text("WHEEL") or "").splitlines()
        if line.startswith("Tag: ")
    )
    wheel = f"{found.metadata['Name'].replace('-', '_')}-{found.version}-{tag}.whl"
    with zipfile.ZipFile(folder / wheel, "w") as file:
        for each in found.files or ():
            if ".." not in each.parts and "__pycache__" not in each.parts:
                file.write(str(each.locate()), str(each))


@pytest.fixture
def environ(tmp_path: Path, built: Path) -> dict[str, str]:
    """The variables of an empty home in which Claude Code is used, without an index to ask."""
    (tmp_path / ".claude").mkdir()
    return {
        "HOME": str(tmp_path),
        "PATH": os.pathsep.join(
            (str(tmp_path / ".local" / "bin"), os.environ.get("PATH", os.defpath))
        ),
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": built.as_uri(),  # pip takes a path with a space for two
        "PIPX_DEFAULT_PYTHON": sys.executable,
        "UV_OFFLINE": "1",
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(built),
        "UV_PYTHON": sys.executable,
    }


def tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not on the PATH")
    return found


def works(brim: str | Path, environ: Mapping[str, str]) -> None:
    """Check that the installed *brim* answers, installs itself, and is called by a hook."""
    home = Path(environ["HOME"])
    assert run(brim, "--version", environ=environ, cwd=home).startswith("brim ")
    assert "exact" in run(
        brim, "dev", "count", "--model", "gpt-4o", "hello", environ=environ, cwd=home
    )
    run(brim, "init", "--agent", "claude", environ=environ, cwd=home)
    assert "Opus" in status_line(home, environ)
    assert list((home / ".brim" / "cache").glob("startup-*.bin")), (
        "hooks of an installed brim start fast"
    )


def status_line(home: Path, environ: Mapping[str, str]) -> str:
    """Return what the status line shows."""
    given = (
        b'{"model": {"display_name": "Opus"}, "context_window": {"context_window_size": 200000}}'
    )
    done = subprocess.run(
        [home / ".brim" / "bin" / "statusline"],
        input=given,
        capture_output=True,
        env=environ,
        check=True,
    )
    return done.stdout.decode()


PIP = (sys.executable, "-m", "pip", "-q", "--disable-pip-version-check")


def test_pip_installs_the_wheel(built: Path, environ: dict[str, str], tmp_path: Path) -> None:
    (wheel,) = built.glob("brim-*.whl")
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    run(*PIP, "--python", python, "install", "--no-compile", wheel, environ=environ)
    works(tmp_path / "env" / "bin" / "brim", environ)


def test_an_update_without_init_answers_and_doctor_says_so(
    built: Path, environ: dict[str, str], tmp_path: Path
) -> None:
    """Two real wheels, one after the other in the same environment."""
    (old,) = built.glob("brim-*.whl")
    new = newer_wheel(tmp_path / "newer")
    run(sys.executable, "-m", "venv", "--without-pip", tmp_path / "env")
    python = tmp_path / "env" / "bin" / "python"
    brim = tmp_path / "env" / "bin" / "brim"
    run(*PIP, "--python", python, "install", "--no-compile", old, environ=environ)
    run(brim, "learn", "--user", "Never push to main.", environ=environ, cwd=tmp_path)
    run(brim, "init", "--agent", "claude", environ=environ, cwd=tmp_path)
    hook = patient(str(tmp_path / ".brim" / "bin" / "hook"))
    before = settings_and_launchers(tmp_path)
    assert "Never push to main." in start_hook(tmp_path, environ)
    assert says_startup(brim, environ) == []

    run(*PIP, "--python", python, "install", "--no-compile", "--upgrade", new, environ=environ)
    assert run(brim, "--version", environ=environ).split()[1] == NEWER
    assert "Never push to main." in start_hook(tmp_path, environ)
    assert "Opus" in status_line(tmp_path, environ)
    (finding,) = says_startup(brim, environ)
    assert "was written by another brim" in finding

    assert settings_and_launchers(tmp_path) == before, "an update changes nothing by itself"
    run(brim, "init", "--agent", "claude", environ=environ, cwd=tmp_path)
    assert says_startup(brim, environ) == []
    patient(hook)
    assert "Never push to main." in start_hook(tmp_path, environ)


NEWER = "99.0.0"


def newer_wheel(folder: Path) -> Path:
    """Build a wheel of this brim that says that it's newer."""
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE", "NOTICE.md", "CHANGELOG.md"):
        shutil.copy(ROOT / name, folder)
    version = folder / "src" / "brim" / "__init__.py"
    text, changed = re.subn(
        r'(?m)^__version__ = ".*"$', f'__version__ = "{NEWER}"', version.read_text()
    )
    assert changed == 1
    version.write_text(text)
    build = "import sys; from hatchling import build; print(build.build_wheel(sys.argv[1]))"
    return folder / run(sys.executable, "-c", build, folder, cwd=folder).split()[-1]


def settings_and_launchers(home: Path) -> dict[str, bytes]:
    files = [*(home / ".claude").rglob("*"), *(home / ".brim" / "bin").iterdir()]
    return {str(path): path.read_bytes() for path in files if path.is_file()}


def start_hook(home: Path, environ: Mapping[str, str]) -> str:
    """Return what the hook of a session's start says."""
    message = {"session_id": os.urandom(4).hex(), "cwd": str(home), "source": "startup"}
    done = subprocess.run(
        [home / ".brim" / "bin" / "hook", "SessionStart", "claude"],
        input=json.dumps({**message, "hook_event_name": "SessionStart"}),
        capture_output=True,
        text=True,
        env=environ,
        check=True,
    )
    return done.stdout


def says_startup(brim: Path, environ: Mapping[str, str]) -> list[str]:
    """Return what doctor says of the file with which hooks start."""
    done = subprocess.run(
        [brim, "doctor", "--json"], capture_output=True, text=True, env=environ, check=False
    )
    findings = json.loads(done.stdout)["findings"]
    return [finding["text"] for finding in findings if finding["what"] == "startup"]


def test_the_sdist_gives_the_same_wheel(built: Path, tmp_path: Path) -> None:
    (sdist,), (wheel,) = built.glob("brim-*.tar.gz"), built.glob("brim-*.whl")
    run(*PIP, "wheel", "--no-deps", "--no-index", "--no-build-isolation", "-w", tmp_path, sdist)
    made, own = (zipfile.ZipFile(path) for path in (tmp_path / wheel.name, wheel))
    with made, own:
        assert {each.filename: each.CRC for each in made.infolist()} == {
            each.filename: each.CRC for each in own.infolist()
        }


def test_uv_tool_install(built: Path, environ: dict[str, str], tmp_path: Path) -> None:
    (wheel,) = built.glob("brim-*.whl")
    run(tool("uv"), "tool", "install", "-q", wheel, environ=environ)
    works(tmp_path / ".local" / "bin" / "brim", environ)


def test_pipx_install(built: Path, environ: dict[str, str], tmp_path: Path) -> None:
    (wheel,) = built.glob("brim-*.whl")
    run(tool("pipx"), "install", wheel, environ=environ)
    works(tmp_path / ".local" / "bin" / "brim", environ)


@pytest.mark.parametrize(
    ("command", "instead"),
    [
        (("uvx", "-q", "--from"), "uv tool install brim"),
        (("pipx", "run", "--spec"), "pipx install brim"),
    ],
)
def test_what_runs_from_a_cache_answers_but_installs_no_hooks(
    built: Path, environ: dict[str, str], tmp_path: Path, command: tuple[str, ...], instead: str
) -> None:
    (wheel,) = built.glob("brim-*.whl")
    brim = [tool(command[0]), *command[1:], str(wheel), "brim"]
    assert run(*brim, "--version", environ=environ, cwd=tmp_path).startswith("brim ")
    done = subprocess.run(
        [*brim, "init"], capture_output=True, text=True, env=environ, cwd=tmp_path, check=False
    )
    assert done.returncode == 2
    assert f"run '{instead}', then 'brim init'" in done.stderr
    assert list((tmp_path / ".claude").iterdir()) == []
    assert not (tmp_path / ".brim").exists()
