"""What an import makes of a behavior that is here already."""

from __future__ import annotations

from hypothesis import given, settings

from brim.behaviors.behavior import Rule
from brim.store.imports import updated
from brim.store.rows import without_secrets
from tests.store.making import behaviors


def texts(behavior: Rule) -> set[str]:
    return {behavior.canonical, *behavior.variants}


@settings(deadline=None)
@given(behaviors, behaviors)
def test_no_text_is_lost_and_doing_it_again_changes_nothing(old: Rule, new: Rule) -> None:
    once = updated(old, new)
    assert texts(once) == texts(old) | texts(new)
    assert set(once.supersedes) == {*old.supersedes, *new.supersedes}
    assert updated(once, new) == once


@settings(deadline=None)
@given(behaviors, behaviors)
def test_how_it_has_fared_here_stays(old: Rule, new: Rule) -> None:
    found = updated(old, new)
    assert (found.usage, found.confidence, found.scope) == (old.usage, old.confidence, old.scope)
    assert old.live or found.status == old.status


@settings(deadline=None)
@given(behaviors)
def test_what_was_stored_once_is_stored_the_same_again(behavior: Rule) -> None:
    stored = without_secrets(behavior)
    assert without_secrets(stored) == stored
