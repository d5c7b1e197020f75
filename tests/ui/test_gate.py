"""Only the browser that brought the token gets in, and only our own pages can change something."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from brim.ui.gate import LARGEST_FORM
from brim.ui.server import ACTIONS, PAGES, STATIC, STREAMS
from tests.ui.conftest import Pages, World, served


@pytest.fixture(scope="module")
def open_pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    with served(World(tmp_path_factory.mktemp("gate"))) as found:
        yield found


def path_of(route: str) -> str:
    return re.sub(r"\{number:int\}", "1", re.sub(r"\{\w+\}", "x", route))


EVERY = [*map(path_of, PAGES), *map(path_of, STREAMS), *(f"/static/{name}" for name in STATIC)]


@pytest.mark.parametrize("path", EVERY)
def test_without_the_cookie_nothing_is_shown(open_pages: Pages, path: str) -> None:
    for cookie in (
        "",
        "brim-1=x",
        f"brim-{open_pages.port}=wrong",
        f"brim-{open_pages.port}=",
        '"; brim',
    ):
        answer = open_pages.ask("GET", path, headers={"Cookie": cookie} if cookie else {})
        assert answer.status == 401
        assert "brim ui" in answer.text
        assert open_pages.place.keys.form not in answer.text


@pytest.mark.parametrize("path", ACTIONS)
def test_a_form_of_another_page_changes_nothing(open_pages: Pages, path: str) -> None:
    assert open_pages.post(path, {"Cookie": "brim=x"}, action="set", limit="1/day").status == 401
    for origin in (
        "http://evil.example",
        "null",
        f"http://127.0.0.1:{open_pages.port + 1}",
        f"https://127.0.0.1:{open_pages.port}",
    ):
        assert open_pages.post(path, {"Origin": origin}, action="set", limit="1/day").status == 403
    for site in ("cross-site", "same-site"):
        assert (
            open_pages.post(path, {"Sec-Fetch-Site": site}, action="set", limit="1/day").status
            == 403
        )
    known = {"Cookie": open_pages.cookie, "Content-Type": "application/x-www-form-urlencoded"}
    assert (
        open_pages.ask("POST", path, b"", known).status == 403
    )  # browsers always say where a form is from
    for token in ("", "wrong", open_pages.place.keys.cookie):
        answer = open_pages.post(path, form_token=token, action="set", limit="1/day")
        assert answer.status == 400
        assert "nothing was changed" in answer.text
    assert open_pages.post(path, {"Content-Type": "text/plain"}, action="set").status == 400
    assert open_pages.post(path, text="x" * LARGEST_FORM).status == 400
    assert open_pages.get(path).status in (404, 405)
    assert not (open_pages.world.home / ".brim" / "brim.db").exists()


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{port}", ""]
)
def test_another_name_for_this_machine_is_refused(open_pages: Pages, host: str) -> None:
    answer = open_pages.get("/", Host=host.format(port=open_pages.port))
    assert answer.status in (400, 421)
    assert open_pages.place.keys.form not in answer.text


def test_the_link_becomes_a_cookie(open_pages: Pages) -> None:
    keys = open_pages.place.keys
    answer = open_pages.ask("GET", f"/?token={keys.token}")
    cookie = answer.headers["set-cookie"]
    assert answer.status == 200
    assert cookie.startswith(f"brim-{open_pages.port}={keys.cookie};")
    assert "httponly" in cookie.lower()
    assert "samesite=strict" in cookie.lower()
    assert "max-age" not in cookie.lower()
    assert keys.token not in answer.text
    assert (
        open_pages.ask("GET", f"/?token={keys.token}").status == 200
    )  # as long as the server runs
    assert open_pages.ask("GET", "/?token=wrong").status == 403
    assert len({keys.token, keys.cookie, keys.form, *keys.once}) == 4


def test_the_link_for_the_browsers_command_line_works_once(world: World) -> None:
    with served(world) as pages:
        once = next(iter(pages.place.keys.once))
        assert pages.ask("GET", f"/?token={once}").status == 200
        assert pages.ask("GET", f"/?token={once}").status == 403


def test_other_sites_can_link_to_the_token_and_to_nothing_else(open_pages: Pages) -> None:
    cross = {"Sec-Fetch-Site": "cross-site"}
    assert (
        open_pages.ask("GET", f"/?token={open_pages.place.keys.token}", headers=cross).status == 200
    )
    assert open_pages.get("/", **cross).status == 403
    assert open_pages.get("/", **{"Sec-Fetch-Site": "none"}).status == 200


@pytest.mark.parametrize(
    "path", ["/", "/rules", "/money", "/nowhere", "/session/gone", "/static/brim.js", "/?token=x"]
)
def test_every_answer_has_the_policy(open_pages: Pages, path: str) -> None:
    answer = open_pages.get(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/", "/rules", "/money"])
def test_pages_load_nothing_from_elsewhere_and_have_nothing_inline(
    open_pages: Pages, path: str
) -> None:
    text = open_pages.get(path).text
    assert not re.search(r"\son\w+=|<style|\sstyle=|javascript:", text)
    assert not re.search(r"<script(?![^>]*\ssrc=)", text)
    assert all(
        address.startswith("/") for address in re.findall(r'(?:src|href|action)="([^"#]+)"', text)
    )
