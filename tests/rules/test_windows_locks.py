"""On Windows a file can't be replaced while another process reads it: rules apply all the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.install.windows import on_windows

CODE = """
import os, sys
from brim.rules.compiled import ask_index
from brim.rules.source import sources_for

home = sys.argv[1]
busy = set(sys.argv[2:])
replace = os.replace

def replace_unless_read(old, new):
    if os.path.basename(new) in busy:
        raise PermissionError(13, "The process cannot access the file", new)
    replace(old, new)

os.replace = replace_unless_read
import brim.files
brim.files.RENAME_PATIENCE = 0.0

def answer(index):
    rows = index.database.execute("SELECT name, blocks FROM rules ORDER BY position").fetchall()
    return rows, index.news

def ask():
    rows, news = ask_index(home, sources_for(home, None), answer, limit=60)
    print([name for name, _ in rows], [blocks for _, blocks in rows if blocks != "[]"], news)

ask()
with open(os.path.join(home, "rules.toml"), "a") as file:
    file.write('[tabs]\\ntext = "Use tabs."\\nblock = "expand"\\n')
ask()
busy.clear()
ask()
print(sorted(os.listdir(home)))
"""
NAMES = ["['uv'] ['[\"run pip install\"]']", "['uv', 'tabs']", "['uv', 'tabs']"]


@pytest.mark.parametrize("busy", [["rules.db"], ["rules.toml"], ["rules.db", "rules.toml"]])
def test_a_file_that_is_read_elsewhere_costs_no_rule(tmp_path: Path, busy: list[str]) -> None:
    home = tmp_path / ".brim"
    home.mkdir()
    (home / "rules.toml").write_text('[uv]\ntext = "Use uv."\nblock = "pip install"\n')
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    ran = on_windows(CODE, str(home), *busy, environ=environ)
    assert ran.returncode == 0, ran.stderr
    *answers, files = ran.stdout.splitlines()
    for answer, names in zip(answers, NAMES, strict=True):
        assert answer.startswith(names)
    assert "run expand" in answers[1]
    assert answers[2].endswith("[]")
    assert ("can't be written" in answers[0]) is ("rules.db" in busy)
    assert "'rules.db'" in files
    assert ".tmp" not in files


LEARN = """
import os, sys
from brim.errors import StoreError
from brim.rules.file import RulesFile

path = sys.argv[1]
replace = os.replace

def refuse(old, new):
    raise PermissionError(13, "The process cannot access the file", new)

import brim.files
brim.files.RENAME_PATIENCE = 0.0
os.replace = refuse
try:
    RulesFile(path).add("tabs", {"text": "Use tabs."})
except OSError as error:
    print("refused", os.path.basename(error.filename))
os.replace = replace
print(RulesFile(path).add("tabs", {"text": "Use tabs."}))
print(sorted(os.listdir(os.path.dirname(path))))
"""


def test_a_rules_file_that_an_editor_holds_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "rules.toml"
    path.parent.mkdir()
    path.write_text('[uv]\ntext = "Use uv."\n')
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    ran = on_windows(LEARN, str(path), environ=environ)
    assert ran.stdout.splitlines()[:2] == ["refused rules.toml", "tabs"], ran.stderr
    assert ".tmp" not in ran.stdout
    assert path.read_text() == '[uv]\ntext = "Use uv."\n\n[tabs]\ntext = "Use tabs."\n'
