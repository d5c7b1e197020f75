"""Which calls show that a rule is broken? From the words of a rule to a check, and from a check and
a call to what breaks it. Nothing here reads a database or speaks to an agent.

When a rule is compiled:

    check = check_for(text, block=("run npm install",), before_done="just fmt")
    check is None               # no call shows whether it's kept: say ``NOT_CHECKED``
    check.promise               # what a person is told: "npm install, i, … are stopped once, …"
    check.to_text(), check.keys # one column of the index, and what a call must have to be looked at

When a call is about to be made:

    pending = CheckedCall(call, CallPlace(folder, project, home, branch))
    pending.keys                # compare with ``check.keys``: only checks that share one can matter
    breach_of(check, pending)   # None, or a ``Breach``: what breaks it, ``refused`` or stopped once
    waits_for(check, pending)   # the command that must wait until ``check.needs`` have run, or ""
    fulfilled_needs(check, pending)    # the places of those of ``check.needs`` that it runs
    CheckIndex(rules).breaches(pending)    # all of that for many checks in memory

A check with ``is_before_done`` asks for ``needs`` at the end of a turn, with ``before`` a command
for them before that command. A need is kept once it has succeeded after the last change.

From the words of a rule to a check, in the order to read it (nothing of it is loaded by a hook):

    lexicon        which word says which concept, in five languages (``data/words.tsv``)
    names          programs, options and paths in a sentence
    tokens         a word with its meanings; a clause; a statement
    atoms          a sentence in pieces
    clauses        the pieces in clauses, with the meanings of their words
    normal         what counts of a clause that names code: the rest describes
    constructions  words that mean something together: *unless I ask*, *before you're done*
    stance         what a statement wants, and which objects it's for and against
    acts           what verbs forbid to do with files
    everyday       the table of everyday rules (``data/everyday.toml``)
    managers       package managers
    general        never run C, use A instead of B, never edit PATH, run C before you finish
    merging        several checks as one
    recognition    ``check_for``: all of that for a rule

From a check and a call to what breaks it (a hook loads no more than this):

    check          the value, as it's kept in a column
    invocation     a command in one form, whatever its aliases
    matching       patterns of commands
    files          what commands do with files
    call           a call, read once for all checks
    paths, texts   files that it touches, lines and messages that it writes
    deciding       ``breach_of`` and the rest
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from brim._lazy import exports

if TYPE_CHECKING:
    from brim.rules.checks.check import NOT_CHECKED as NOT_CHECKED
    from brim.rules.checks.check import Breach as Breach
    from brim.rules.checks.check import RuleCheck as RuleCheck
    from brim.rules.checks.deciding import CallPlace as CallPlace
    from brim.rules.checks.deciding import CheckedCall as CheckedCall
    from brim.rules.checks.deciding import CheckIndex as CheckIndex
    from brim.rules.checks.deciding import breach_of as breach_of
    from brim.rules.checks.deciding import fulfilled_needs as fulfilled_needs
    from brim.rules.checks.deciding import waits_for as waits_for
    from brim.rules.checks.recognition import check_for as check_for
else:
    __getattr__, __dir__ = exports(
        __name__,
        check="NOT_CHECKED Breach RuleCheck",
        deciding="CheckIndex CheckedCall CallPlace breach_of fulfilled_needs waits_for",
        recognition="check_for",
    )
