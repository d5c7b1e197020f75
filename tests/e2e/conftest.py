"""Gives every test a model API, a world of its own, and the programs that are here."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.agents import AGENTS, Agent
from tests.e2e.api import ModelApi
from tests.e2e.programs import NAMES, program
from tests.e2e.world import World


@pytest.fixture
def api() -> Iterator[ModelApi]:
    with ModelApi() as api:
        yield api


@pytest.fixture
def world(tmp_path: Path, api: ModelApi) -> Iterator[World]:
    """A world of its own; when a test failed, what the hooks could not do stands beside it."""
    world = World(tmp_path, api)
    yield world
    print(world.hook_log)


def agent_in(world: World, name: str) -> Agent:
    """Return the program *name*; a test that needs one that is not here is left out."""
    found = program(name)
    if found is None:
        leave = pytest.fail if os.environ.get("BRIM_E2E_ALL") else pytest.skip
        leave(f"{NAMES[name]} is not here: make e2e installs it")
    return AGENTS[name](found, world)


@pytest.fixture(params=list(AGENTS))
def agent(request: pytest.FixtureRequest, world: World) -> Agent:
    """Each of the programs in turn."""
    return agent_in(world, request.param)


@pytest.fixture
def claude(world: World) -> Agent:
    return agent_in(world, "claude")


@pytest.fixture
def codex(world: World) -> Agent:
    return agent_in(world, "codex")


@pytest.fixture
def gemini(world: World) -> Agent:
    return agent_in(world, "gemini")
