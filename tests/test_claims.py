"""Every sentence of README and SECURITY that promises something has the tests that prove it.

A sentence with one of ``PROMISING`` stands in ``claims.tsv`` with its tests. A new one fails until
it is there; a changed one, until its tests were looked at again.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = ("README.md", "SECURITY.md")
PROMISING = re.compile(r"\b(never|always|every|only|exactly|can't)\b", re.IGNORECASE)
FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
BLOCK_START = re.compile(r"^(#|[-*] |\d+\. |\||<!--|!\[)")
QUOTED = re.compile(r'"[^"]*"')
NOT_PROMISED = "Not promised:*"
SENTENCE_END = re.compile(r"(?<=[.:])\s+(?=[A-Z*`\[])")


def sentences(page: str) -> list[str]:
    """Return the sentences of the prose and of the table cells of *page*."""
    text = FENCED.sub("", (ROOT / page).read_text(encoding="utf-8"))
    blocks: list[str] = []
    for line in text.splitlines():
        if not blocks or not line.strip() or BLOCK_START.match(line):
            blocks.append(line)
        else:
            blocks[-1] += f" {line.strip()}"
    texts: list[str] = []
    for block in blocks:
        for cell in block.strip("| ").split(" | "):
            texts += [text.lstrip("-#* ").strip() for text in SENTENCE_END.split(cell)]
    return texts


def claims() -> dict[str, list[str]]:
    """Return the sentences of ``claims.tsv``, each with its tests."""
    lines = (ROOT / "tests" / "claims.tsv").read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    return {sentence: tests.split() for sentence, tests in rows}


def promises() -> list[str]:
    """Return the sentences that promise something; what isn't promised says so."""
    texts = [text for page in PAGES for text in sentences(page)]
    promising = [text for text in texts if PROMISING.search(QUOTED.sub("", text))]
    return [text for text in promising if not text.startswith(NOT_PROMISED)]


@cache
def functions_in(path: str) -> frozenset[str]:
    """Return the names of the test functions of a file, also those in classes."""
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return frozenset(node.name for node in functions)


def test_every_promise_has_tests() -> None:
    assert [text for text in promises() if text not in claims()] == []


def test_every_claim_is_still_made() -> None:
    assert sorted(set(claims()) - set(promises())) == []


@pytest.mark.parametrize("sentence", claims())
def test_the_tests_of_a_claim_exist(sentence: str) -> None:
    assert claims()[sentence]
    for name in claims()[sentence]:
        path, _, function = name.partition("::")
        assert function in functions_in(path), name
