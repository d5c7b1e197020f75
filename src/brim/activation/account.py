"""An explanation as aligned lines."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from brim.activation.why import Condition, Explanation, Flow, Step


def account(explained: Explanation, names: Mapping[str, str]) -> str:
    """Return *explained* as lines: what was compared, what was added and taken, and what came of it."""
    rows = [("", f"{names.get(explained.id, explained.id)}: {explained.outcome}")]
    rows += [(condition.key, _compared(condition)) for condition in explained.conditions]
    if not explained.conditions:
        rows.append(("conditions", "none"))
    if explained.words:
        rows.append(("words", f"{', '.join(explained.words)}: confirmed"))
    rows.append(("seed", _seed(explained)))
    for number, step in _telling(explained.steps):
        rows.append((f"step {number}", _moved(step)))
        rows += [("", _came(flow, names)) for flow in step.flows]
    if explained.inhibition > 0:
        rows.append(("inhibition", f"- {explained.inhibition:.3f}, the strongest have {explained.top_mean:.3f}"))
    rows.append(("raw", f"{explained.raw:.3f}"))
    rows.append(("activation", f"{explained.value:.3f}"))
    head, *others = rows
    width = max(len(label) for label, _ in others)
    return "\n".join([head[1], *(f"  {label.ljust(width)}  {text}" for label, text in others)])


def _telling(steps: Sequence[Step]) -> list[tuple[int, Step]]:
    """Return the steps that changed something, by number; if none did, the first in which something came at all."""
    coming = [(number, step) for number, step in enumerate(steps, 1) if step.flows]
    return [(number, step) for number, step in coming if step.before != step.after] or coming[:1]


def _compared(condition: Condition) -> str:
    wanted = " or ".join(condition.wanted)
    if condition.verdict == "absent":
        return f"{wanted}: absent, the context does not say"
    joint = "by" if condition.verdict == "confirmed" else "it is"
    return f"{wanted}: {condition.verdict}, {joint} {' or '.join(condition.known)}"


def _seed(explained: Explanation) -> str:
    if not explained.seed:
        return "none"
    if explained.idle_hours is None:
        history = "never used"
    else:
        times = "once" if explained.uses == 1 else f"{explained.uses} times"
        history = f"used {times}, last {explained.idle_hours:.1f} hours ago"
    return f"{explained.unweighted:.3f} x {explained.factor:.3f} ({history}) = {explained.seed:.3f}"


def _moved(step: Step) -> str:
    if step.before == step.after:
        return f"{step.after:.3f}, no change"
    return f"{step.before:.3f} to {step.after:.3f}"


def _came(flow: Flow, names: Mapping[str, str]) -> str:
    sign = "-" if flow.energy < 0 else "+"
    faded = "" if flow.freshness == 1 else f", {flow.freshness:.0%} fresh"
    giver = names.get(flow.giver, flow.giver)
    return f"{sign} {abs(flow.energy):.3f} {flow.kind} {giver} (weight {flow.weight:g}{faded})"
