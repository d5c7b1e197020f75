"""One limit for a team: LiteLLM's proxy with brim's guard, its routes, refusals and bills."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

if os.environ.get("BRIM_ADAPTER") != "litellm":
    pytest.skip(
        "LiteLLM is tested in an environment of its own: make adapters", allow_module_level=True
    )

from brim.adapters.litellm_team import FREE, GUARDED
from brim.money import open_ledger
from brim.money.team_keys import TeamKeys
from brim.usd import Money
from tests.adapters.model import Model, parallel
from tests.adapters.proxy import Proxy, at_once, new_key
from tests.waiting import wait_until

HELLO = [{"role": "user", "content": "Say hello."}]
CONTENTS = [{"role": "user", "parts": [{"text": "Say hello."}]}]
MOST = 200
"""Tokens of an answer."""
CHAT = "/v1/chat/completions"
RESPONSES = "/v1/responses"
MESSAGES = "/v1/messages"
GENERATE = "/v1beta/models/{model}:generateContent"
ROUTES = (CHAT, RESPONSES, MESSAGES, GENERATE)
MODELS = ("gpt-4o", "claude-sonnet-4-5", "gemini-2.5-flash")


class Team:
    """A proxy, the model behind it, and the team's ledger."""

    def __init__(self, proxy: Proxy, model: Model, store: str) -> None:
        self.proxy = proxy
        self.model = model
        self.store = store
        self.key = new_key(store)

    def ask(self, route: str, model: str = "gpt-4o", key: str = "", **more: Any) -> Any:
        """Send one small request; *more* are fields of its body."""
        path, body = request(route, model, stream=more.pop("stream", False))
        headers = more.pop("headers", None)
        return self.proxy.ask(path, {**body, **more}, key or self.key, headers=headers)

    def sums(self, scope: str = "acme") -> tuple[int, int]:
        """Return what is spent and reserved."""
        with open_ledger(self.store) as ledger:
            status = ledger.status(scope)
        return int(status.spent), int(status.reserved)

    def limit(self, scope: str, amount: str | None) -> None:
        with open_ledger(self.store) as ledger:
            ledger.limit(scope, amount)

    def settles(self) -> tuple[int, int]:
        """Wait until nothing is reserved, and return the sums."""
        wait_until(lambda: self.sums()[1] == 0)
        return self.sums()


def request(route: str, model: str, *, stream: bool = False) -> tuple[str, dict[str, Any]]:
    """Return the path and the body of one small request."""
    if route == GENERATE:
        path = route.format(model=model)
        if stream:
            path = path.replace(":generate", ":streamGenerate") + "?alt=sse"
        return path, {"contents": CONTENTS, "generationConfig": {"maxOutputTokens": MOST}}
    body: dict[str, Any] = {"model": model, "messages": HELLO, "max_tokens": MOST}
    if route == RESPONSES:
        body = {"model": model, "input": "Say hello.", "max_output_tokens": MOST}
    if stream:
        body["stream"] = True
    return route, body


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Proxy, Model, str]]:
    folder = tmp_path_factory.mktemp("team")
    store = f"{folder}/spend.db"
    open_ledger(store).close()
    with Model(parallel(0), window=200_000) as model, Proxy(folder, model.url, store) as proxy:
        yield proxy, model, store


@pytest.fixture
def team(proxy: tuple[Proxy, Model, str]) -> Iterator[Team]:
    """A team of its own in the same proxy: nothing is spent and no limit is set."""
    process, model, store = proxy
    model.requests.clear()
    yield Team(process, model, store)
    with open_ledger(store) as ledger:
        for status in ledger.statuses():
            ledger.limit(status.scope, None, anew=True)
        for reservation in open_reservations(ledger):
            ledger.settle(reservation, Money(0))


def open_reservations(ledger: Any) -> list[str]:
    with ledger.database.reading() as database:
        rows = database.rows("SELECT request_id FROM reservations WHERE state = 'open'")
    return [row[0] for row in rows]


# Bills --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("route", ROUTES)
def test_every_guarded_route_is_billed_to_the_micro_dollar(
    team: Team, route: str, model: str, stream: bool
) -> None:
    before = team.sums()[0]
    answer = team.ask(route, model, stream=stream)
    assert answer.status == 200, answer.text
    wait_until(lambda: team.sums()[1] == 0)
    assert len(team.model.answered) == 1
    assert team.sums()[0] - before == team.model.spent > 0


def test_a_session_and_a_project_count_too(team: Team) -> None:
    headers = {"X-Claude-Code-Session-Id": "s 1", "X-Brim-Project": "shop"}
    team.ask(MESSAGES, "claude-sonnet-4-5", headers=headers)
    spent = team.model.spent
    assert team.sums("acme/ann/s-1") == (spent, 0)
    assert team.sums("acme/shop") == (spent, 0)
    with open_ledger(team.store) as ledger:
        assert "acme/ann/s-1+acme/shop" in {day.scope for day in ledger.days("acme/shop")}


def test_a_key_may_be_for_one_project(team: Team) -> None:
    key = new_key(team.store, "acme/ann", "acme/site")
    team.ask(CHAT, key=key, headers={"X-Brim-Project": "shop-2"})
    assert team.sums("acme/site") == (team.model.spent, 0)
    assert team.sums("acme/shop-2") == (0, 0)


def test_another_persons_name_is_no_project(team: Team) -> None:
    new_key(team.store, "acme/bob")
    new_key(team.store, "acme/carl")
    answer = team.ask(CHAT, key=new_key(team.store), headers={"X-Brim-Project": "bob"})
    assert (answer.status, answer.message) == (
        400,
        "x-brim-project: bob is a person, not a project",
    )
    assert team.model.requests == []


@pytest.mark.parametrize("field", ["metadata", "litellm_metadata"])
def test_nobody_spends_in_anothers_name(team: Team, field: str) -> None:
    forged = {"user_api_key_alias": "acme/bob", "user_api_key_user_id": "bob"}
    before = team.sums("acme/bob")
    fields: dict[str, Any] = {field: forged}
    team.ask(MESSAGES, "claude-sonnet-4-5", **fields)
    assert team.sums("acme/bob") == before


def test_an_id_of_the_clients_does_not_spare_a_reservation(team: Team) -> None:
    """LiteLLM takes a call's id from a header: two requests with the same one are two."""
    headers = {"x-litellm-call-id": "same"}
    before = team.sums()[0]
    at_once(6, lambda _: team.ask(CHAT, headers=headers))
    spent, _ = team.settles()
    assert spent - before == team.model.spent


# Refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("stream", [False, True], ids=["plain", "stream"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("route", ROUTES)
def test_a_refusal_is_400_in_the_form_of_its_api(
    team: Team, route: str, model: str, stream: bool
) -> None:
    with open_ledger(team.store) as ledger:
        ledger.limit("acme/ann", "0", anew=True)
    answer = team.ask(route, model, stream=stream)
    assert answer.status == 400
    assert answer.headers["x-should-retry"] == "false"
    assert answer.message.startswith("ann has spent ")
    assert answer.message.endswith("; ask acme's admin")
    assert "brim limit" not in answer.text
    error = answer.body["error"]
    if route == MESSAGES:
        assert answer.body["type"] == "error"
        assert error["type"] == "invalid_request_error"
    elif route == GENERATE:
        assert (error["code"], error["status"]) == (400, "INVALID_ARGUMENT")
    else:
        assert error["type"] == "invalid_request_error"
    assert team.model.requests == []


def test_a_limit_that_is_raised_lets_requests_through_at_once(team: Team) -> None:
    team.limit("acme", "0.000001")
    assert team.ask(CHAT).status == 400
    team.limit("acme", "100")
    assert team.ask(CHAT).status == 200


def test_several_models_in_one_request_are_refused(team: Team) -> None:
    answer = team.ask(CHAT, "gpt-4o,gpt-4o-mini")
    assert answer.status == 400
    assert team.model.requests == []


def test_an_unknown_or_revoked_key_is_401(team: Team) -> None:
    assert team.ask(CHAT, key="sk-nobody").status == 401
    assert team.ask(CHAT, key="sk-only-admins-have-this").status == 401
    key = new_key(team.store, "acme/dora")
    assert team.ask(CHAT, key=key).status == 200
    with open_ledger(team.store) as ledger:
        TeamKeys(ledger).revoke("acme/dora")
    wait_until(lambda: team.ask(CHAT, key=key).status == 401)


# Errors and clients that leave ----------------------------------------------------------------------


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 429, 500, 503, 529])
@pytest.mark.parametrize(
    ("route", "model"), [(CHAT, "gpt-4o"), (MESSAGES, "claude-sonnet-4-5"), (MESSAGES, "gpt-4o")]
)
def test_an_error_that_a_provider_does_not_bill_gives_the_money_back(
    team: Team, route: str, model: str, status: int
) -> None:
    before = team.sums()
    team.model.fail(status)
    answer = team.ask(route, model)
    assert answer.status >= 400
    assert team.sums() == before
    assert team.ask(route, model).status == 200


@pytest.mark.parametrize("status", [502, 504])
def test_what_may_have_been_billed_is_held(team: Team, status: int) -> None:
    before = team.sums()
    team.model.fail(status)
    assert team.ask(CHAT).status >= 500
    spent, reserved = team.sums()
    assert spent == before[0]
    assert reserved > 0


# Waiting ------------------------------------------------------------------------------------------


def test_requests_that_fit_one_after_another_are_all_answered(team: Team) -> None:
    before = team.sums()[0]
    team.limit("acme", str(Money(before + 10_000)))  # each reserves about $0.003 and costs $0.0003
    answers = at_once(8, lambda _: team.ask(MESSAGES, "claude-sonnet-4-5"))
    assert [answer.status for answer in answers] == [200] * 8
    assert team.settles()[0] - before == team.model.spent


# Routes -------------------------------------------------------------------------------------------


DATA = Path(__file__).parent / "data" / "litellm_open_routes.txt"
SERVED = {("POST", path) for path in GUARDED} | set(FREE)


@pytest.fixture(scope="module")
def routes() -> list[Any]:
    """Every route of LiteLLM: its kind, methods and path, and whether it asks for a key."""
    program = Path(__file__).parent / "routes.py"
    environment = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    command = [sys.executable, "-W", "ignore", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    rows: list[Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return rows


def test_routes_that_ask_for_no_key_are_known(routes: list[Any]) -> None:
    known = DATA.read_text().splitlines()
    new = {path for _, _, path, asks in routes if not asks} - set(known)
    assert new == set(), "does one of these call a model? Then it must be refused"


def test_every_other_route_is_guarded_or_refused(team: Team, routes: list[Any]) -> None:
    http = [row for row in routes if row[0] == "http" and row[3]]
    assert {("POST", path) for path in GUARDED} <= {("POST", row[2]) for row in http}
    body = {"model": "gpt-4o", "messages": HELLO, "input": "x", "prompt": "x"}
    served = []
    for _, methods, path, _ in http:
        address = re.sub(r"\{[^}]*\}", "x", path)
        for method in set(methods) - {"HEAD", "OPTIONS"}:
            if (method, path) in SERVED:
                continue
            sent = None if method == "GET" else body
            answer = team.proxy.ask(address, sent, team.key, method=method)
            if answer.status not in (403, 404):
                served.append((method, path, answer.status, answer.text[:80]))
    assert served == []
    assert team.model.requests == []


def test_no_websocket_is_opened(team: Team, routes: list[Any]) -> None:
    paths = [row[2] for row in routes if row[0] == "websocket"]
    assert paths
    for path in paths:
        address = re.sub(r"\{[^}]*\}", "x", path)
        connection = http.client.HTTPConnection("127.0.0.1", team.proxy.port, timeout=60)
        connection.request("GET", f"{address}?model=gpt-4o", headers=websocket(team.key))
        assert connection.getresponse().status == 403, path
        connection.close()


def websocket(key: str) -> dict[str, str]:
    return {
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version": "13",
        "Authorization": f"Bearer {key}",
    }


def test_a_refused_route_says_so(team: Team) -> None:
    for path in (
        "/v1/embeddings",
        "/v1/images/generations",
        "/v1/batches",
        "/anthropic/v1/messages",
    ):
        answer = team.proxy.ask(path, {"model": "gpt-4o", "input": "x"}, team.key)
        assert (answer.status, answer.message) == (
            403,
            f"{path} isn't counted by brim, so it isn't served",
        )


@pytest.mark.parametrize(
    "path",
    [
        "/gemini/v1beta/models/gemini-2.5-flash:generateContent",
        "/gemini/v1beta/models/gemini-2.5-flash:generateContent?key={key}",
        "/vertex_ai/discovery/x",
        "/v1/realtime/calls",
        "/openai/v1/realtime/calls",
        "/realtime/calls",
        "/mcp",
    ],
)
def test_routes_that_look_for_a_key_themselves_are_refused(team: Team, path: str) -> None:
    body = {"model": "gpt-4o", "contents": CONTENTS}
    answer = team.proxy.ask(path.format(key=team.key), body, team.key)
    assert answer.status in (401, 403), answer.text
    assert team.model.requests == []
