"""From a situation to a text, through the whole house."""

from __future__ import annotations

from brim.activation import Context, Graph, activate
from brim.behaviors import Edge
from brim.injection import ActivationTierMapper, Tier, render
from tests.injection.making import rule


def test_constraints_that_silence_each_other_are_told_all_the_same() -> None:
    behaviors = [
        rule("squash", "Never merge without squashing.", kind="constraint"),
        rule("keep", "Never squash a release branch.", kind="constraint"),
        rule("strong", "Ask before merging.", when={"task": "git"}),
    ]
    edges = [
        Edge("squash", "keep", "conflicts"),
        Edge("strong", "squash", "overrides"),
        Edge("strong", "keep", "overrides"),
    ]
    results = activate(Graph(behaviors, edges), Context(task="git"), now=0)
    assert [(result.id, result.value > 0) for result in results] == [
        ("strong", True),
        ("keep", False),
        ("squash", False),
    ]
    plan = ActivationTierMapper().plan(results, behaviors)
    assert {item.id: item.tier for item in plan.items}["keep"] is Tier.SUMMARY
    assert "Never squash a release branch." in render(plan)


def test_a_directive_that_was_silenced_is_not_told_and_the_plan_says_so() -> None:
    behaviors = [rule("old", "Use pip."), rule("new", "Use uv.", when={"language": "python"})]
    edges = [Edge("new", "old", "overrides")]
    results = activate(Graph(behaviors, edges), Context(file="a.py"), now=0)
    plan = ActivationTierMapper().plan(results, behaviors)
    assert [item.id for item in plan.included] == ["new"]
    assert plan.omitted[0].reason == "activation 0.00 is under 0.1"
