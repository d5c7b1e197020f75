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

Compiling: ``recognition`` reads sentences; ``lexicon``, ``names`` and ``sentence`` turn them into
concepts with ``data/phrases.tsv``, ``stance`` says what they want, ``everyday`` has the table of
everyday rules (``data/everyday.toml``) and ``general`` the general forms. Deciding: ``check`` is
the value,
``deciding`` compares, ``invocation`` and ``files`` read commands, ``matching`` has the patterns.
Deciding imports nothing of compiling.
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
