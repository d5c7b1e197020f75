"""A person at a terminal is asked, and what they answer is done."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.cli.conftest import Brim
from tests.cli.written import editor, texts, write_rule

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such terminals there")


def asked(
    brim: Brim, answer: str, *arguments: str, env: dict[str, str] | None = None
) -> tuple[int, str]:
    """Run the command with a terminal on which *answer* was typed; return its exit code and what
    stood there."""
    import pty

    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    process = brim.start(
        *arguments, env=env, fork=True, stdin=theirs, stderr=theirs, stdout=subprocess.DEVNULL
    )
    code = process.wait(timeout=300)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:  # how Linux says that nothing more will come
        pass
    os.close(ours)
    return code, shown.decode()


@pytest.mark.parametrize("answer", ["y\n", "YES\n"])
def test_yes_is_yes(brim: Brim, answer: str) -> None:
    brim.write("AGENTS.md", "- Use uv, never pip.\n")
    code, shown = asked(brim, answer, "rules", "import", "AGENTS.md", "--user")
    assert (code, "[y/N]" in shown) == (0, True)
    assert len(texts(brim)) == 1


@pytest.mark.parametrize("answer", ["\n", "n\n", "what?\n", "\x04"])
def test_anything_else_is_no(brim: Brim, answer: str) -> None:
    brim.write("AGENTS.md", "- Use uv, never pip.\n")
    code, shown = asked(brim, answer, "rules", "import", "AGENTS.md", "--user")
    assert (code, "nothing was changed" in shown) == (1, True)
    assert texts(brim) == []


MISTAKE = "text = text.replace('text =', 'txt =') if 'txt' not in text else text.replace('txt', 'text').replace('uv', 'bun')"


def test_a_file_with_a_mistake_can_be_edited_again(brim: Brim) -> None:
    write_rule(brim, "uv", "Use uv.")
    code, shown = asked(brim, "\n", "rules", "edit", "uv", env=editor(brim, MISTAKE))
    assert (code, "'txt'" in shown, "[Y/n]" in shown) == (0, True, True)
    assert texts(brim) == ["Use bun."]


def test_whoever_does_not_want_to_edit_again_keeps_the_file(brim: Brim) -> None:
    write_rule(brim, "uv", "Use uv.")
    code, shown = asked(brim, "n\n", "rules", "edit", "uv", env=editor(brim, MISTAKE))
    assert (code, "what you wrote is in" in shown) == (2, True)
    assert texts(brim) == ["Use uv."]


def test_outside_of_a_project_a_person_is_asked_whose_rule_it_is(brim: Brim) -> None:
    code, shown = asked(brim, "y\nn\n", "learn", "Use uv, never pip.")
    assert (code, "all your projects? [Y/n]" in shown) == (0, True)
    assert len(texts(brim)) == 1
    assert asked(brim, "n\n", "learn", "Never push to main.")[0] == 2
    assert len(texts(brim)) == 1
