"""A hook waits for every module that it imports: delivery loads few, and no tokenizer."""

from __future__ import annotations

from pathlib import Path

from brim.rules.compiled import rebuild_index
from brim.rules.source import sources_for
from tests.hooks.test_startup import site, write
from tests.test_imports import FORBIDDEN, imported

__all__ = ["site"]

RULES = """
[push]
text = "Never push to main."
block = "git push origin main"

[rust]
text = "No unwrap outside of tests."
when = "*.rs"
"""
ASK = """
import sys
sys.path.insert(0, {site!r})
from brim._startup import use_startup
assert use_startup({home!r})
from brim.rules.blocks import commands_of
from brim.rules.compiled import ask_index
from brim.rules.delivery import CALL, PROMPT, START, deliver, note
from brim.rules.fitting import Budget
from brim.rules.session import Session
from brim.rules.situation import Situation
from brim.rules.source import sources_for
session = Session()
def ask(moment, situation):
    def question(index):
        delivery = deliver(index, moment, situation, session, Budget(500))
        note(delivery, moment, session)
        return delivery
    return ask_index({home!r}, sources_for({home!r}, None), question, limit=60)
start = ask(START, Situation())
assert start.text.count("- ") == 2, start
session.begin("clear")
prompt = ask(PROMPT, Situation(prompt="Fix src/main.rs, then push"))
call = ask(CALL, Situation(command="git push", commands=(("git", "push"),)))
assert "unwrap" in prompt.text and "Never push" in prompt.text, prompt
"""


def test_delivery_is_light(site: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "rules.toml").write_text(RULES)
    rebuild_index(str(home), sources_for(str(home), None))
    write(site, home)
    modules = imported(ASK.format(site=str(site), home=str(home)))
    assert modules & FORBIDDEN == set()
    assert {name for name in modules if name.startswith("brim.tokens")} <= set()
    assert modules & {"tomllib", "brim.rules.reading", "brim.rules.compiling"} == set()
    assert "markdown_it" not in modules
