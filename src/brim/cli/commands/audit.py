"""``brim rules audit``: mistakes, secrets, and rules that say the same."""

from __future__ import annotations

from argparse import Namespace

from brim.cli.options import add_json, command, here
from brim.cli.output import counted, emit, home_path, note, paint, printable
from brim.rules.audit import PROBLEM, AuditFinding, problems_in
from brim.rules.audit import audit as find_all
from brim.rules.outlook import DeliveryLimits, outlook


@command(add_json)
def audit(options: Namespace) -> int:
    """Check the rules of every place.

    Problems are mistakes in a rules file, with their line, and edges to rules that aren't there.
    Hints are secrets, rules that don't fit at the start of a session, and rules that say the same
    or the opposite. Nothing is changed. Exits with 1 if there is a problem; hints don't count.

    Example:
      brim rules audit
    """
    workspace = here()
    book = workspace.rulebook
    entries = book.entries()
    promises = sum([entry.is_kept for entry in entries])
    forecast = outlook(book.open_index(), DeliveryLimits.of(workspace.config))
    findings = find_all(book, forecast)
    problems = problems_in(findings)
    title = f"{promises} of {counted(len(entries), 'rule')} can be checked"
    view = [title, *[_finding_view(finding) for finding in findings]]
    result = {
        "rules": len(entries),
        "checked": promises,
        "findings": [finding.to_dict() for finding in findings],
    }
    emit(result, "\n".join(view), options.as_json)
    if not findings:
        note("all is well")
    return int(bool(problems))


def _finding_view(finding: AuditFinding) -> str:
    colour = "red" if finding.kind == PROBLEM else "yellow"
    text = home_path(printable(f"{finding.text}; {finding.fix}"))
    return f"{paint(finding.kind, colour)}: {text}"
