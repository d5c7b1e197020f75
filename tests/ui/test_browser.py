"""The pages in a real browser: every page is clicked through, and what is done there counts."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from brim.hooks.process import answer_to
from brim.install.agents import model_of
from brim.rules.inbox import Inbox
from tests.ui.browser import MISSING, browser, chromium
from tests.ui.conftest import READING, Pages, World, kept_reading, served
from tests.waiting import PATIENCE

pytestmark = [
    pytest.mark.skipif(chromium() is None, reason=MISSING),
    pytest.mark.xdist_group("browser"),  # one browser for all of them
]
EXAMPLES = Path(__file__).parents[2] / "examples"


expect.set_options(timeout=1_000 * PATIENCE)


@pytest.fixture(scope="module")
def chrome() -> Iterator[Browser]:
    with browser() as found:
        yield found


class Tab:
    """A tab that has the cookie, and notes everything that goes wrong in it."""

    def __init__(self, chrome: Browser, pages: Pages) -> None:
        self.page: Page = chrome.new_page(viewport={"width": 1000, "height": 700}, locale="en-US")
        self.page.set_default_timeout(1_000 * PATIENCE)
        self.pages, self.problems = pages, list[str]()
        self.page.on(
            "console",
            lambda said: self.problems.append(said.text) if said.type == "error" else None,
        )
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self.page.on(
            "request",
            lambda sent: (
                None if sent.url.startswith(pages.origin) else self.problems.append(sent.url)
            ),
        )
        self.page.goto(f"{pages.origin}/?token={pages.place.keys.token}")
        self.page.wait_for_url(f"{pages.origin}/")

    def __enter__(self) -> Tab:
        self.problems.clear()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            assert self.problems == []


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    world = World(tmp_path_factory.mktemp("browser"))
    world.brim("init", "--agent", "claude")
    world.brim("learn", "In Python files, use pathlib instead of os.path.")
    world.brim("learn", "--user", "Never push to main.", "--kind", "constraint")
    world.brim(
        "learn",
        "--user",
        "Run pytest with -x while you work on one failure.",
        "--when",
        "task testing",
    )
    world.story().play()
    with served(world) as pages:
        yield pages


@pytest.fixture(scope="module")
def tab(chrome: Browser, shop: Pages) -> Tab:
    return Tab(chrome, shop)


def hook(pages: Pages, event: str, **said: object) -> str:
    world = pages.world
    data = {
        "session_id": "s1",
        "transcript_path": "",
        "cwd": str(world.project),
        "hook_event_name": event,
        **said,
    }
    return answer_to(event, "claude", data, world.environ, now=time.time())


def test_every_page_is_reached_by_clicking_and_nothing_leaves_the_machine(
    tab: Tab, shop: Pages
) -> None:
    with tab:
        page = tab.page
        assert "token" not in page.url
        page.get_by_role("link", name="Rules").click()
        expect(page.get_by_role("heading", name="What would an agent hear?")).to_be_visible()
        page.get_by_role("link", name="In Python files").first.click()
        expect(page.get_by_role("button", name="Save")).to_be_visible()
        page.get_by_role("link", name="Money").click()
        page.get_by_role("link", name="session", exact=True).click()
        page.locator("table.money a").first.click()
        expect(page.get_by_role("heading", name="compaction")).to_be_visible()
        expect(page.locator(".u-over")).to_be_visible()
        page.get_by_role("link", name="brim", exact=True).click()
        page.locator("#live a").first.click()
        expect(page.get_by_role("heading", name="shop")).to_be_visible()


def test_requests_are_stepped_through_with_the_keyboard(tab: Tab, shop: Pages) -> None:
    session = next(iter(shop.place.files()))
    with tab:
        page = tab.page
        page.goto(f"{shop.origin}/session/{Path(session.path).stem}")
        page.keyboard.press("Tab")
        expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
        slider = page.get_by_role("slider")
        slider.focus()
        slider.press("Home")
        slider.press("ArrowRight")
        expect(page.locator(".readout")).to_contain_text("request 2")
        expect(page.locator("#request")).to_contain_text("request 2 of")
        page.locator(".u-over").hover(position={"x": 300, "y": 60})
        expect(page.locator(".tip").first).to_contain_text("came in")


def test_a_request_is_shown_though_the_session_is_still_read(tab: Tab, shop: Pages) -> None:
    story = shop.world.story(number=9, begin=time.time() - 4_000)
    story.play(cut=True)
    with tab:
        page = tab.page
        page.goto(f"{shop.origin}/session/{story.id}")
        slider = page.get_by_role("slider")
        expect(page.locator("#request")).to_contain_text("request 3 of 3")
        story.answer("One more line.")
        with kept_reading(shop, story):
            slider.focus()
            with page.expect_response(lambda answer: answer.status == READING):
                slider.press("Home")
            expect(page.locator(".readout")).to_contain_text("request 1")
            with page.expect_response(lambda answer: "/request/2" in answer.url):
                slider.press("ArrowRight")
        expect(page.locator("#request")).to_contain_text("request 2 of")
        page.locator(".u-over").click(position={"x": 5, "y": 60})
        expect(page.locator("#request")).to_contain_text("request 1 of")


def test_a_press_counts_though_the_chart_is_drawn_anew(tab: Tab, shop: Pages) -> None:
    story = shop.world.story(number=10, begin=time.time() - 600)
    story.play(cut=True)
    with tab:
        page = tab.page
        page.goto(f"{shop.origin}/session/{story.id}")
        slider = page.get_by_role("slider")
        expect(slider).to_have_attribute("max", "3")
        plot = page.locator(".u-over").bounding_box()
        assert plot is not None
        page.mouse.move(plot["x"] + 5, plot["y"] + 60)
        page.mouse.down()
        story.read("src/large.py", 9_000, 77)
        story.answer("That was long.")
        expect(slider).to_have_attribute("max", "5")
        page.mouse.up()
        expect(page.locator("#request")).to_contain_text("request 1 of")


def test_the_sliders_numbers_are_those_of_why(tab: Tab, shop: Pages) -> None:
    with tab:
        page = tab.page
        page.goto(f"{shop.origin}/rules")
        page.get_by_label("It is told").fill("run the tests")
        slider = page.get_by_role("slider")
        for tokens in (40, 20):
            slider.fill(str(tokens))
            expect(page.locator(f'#plan[data-tokens="{tokens}"]')).to_be_visible()
            said = shop.world.json(
                "rules",
                "why",
                "--prompt",
                "run the tests",
                "--token-budget",
                str(tokens),
                "--model",
                model_of("claude", shop.world.environ),
                code=int(tokens < 30),
            )
            expect(page.locator("[data-total]")).to_have_attribute(
                "data-total", str(said["tokens"])
            )
            shown = page.eval_on_selector_all(
                "tr[data-rule]", "rows => rows.map(row => [row.dataset.rule, row.dataset.tier])"
            )
            assert shown == [[rule["name"], rule["tier"]] for rule in said["rules"]]


def test_a_correction_is_accepted_and_told_by_the_next_hook(tab: Tab, shop: Pages) -> None:
    world = shop.world
    Inbox(str(world.home / ".brim")).add(
        "use-pnpm", "no, use pnpm here", project=str(world.project)
    )
    with tab:
        tab.page.goto(f"{shop.origin}/rules")
        tab.page.get_by_label("Rule", exact=True).fill("Use pnpm, not npm, to install packages.")
        tab.page.get_by_role("button", name="Accept").click()
        expect(tab.page.locator(".said")).to_contain_text("Saved as")
    told = hook(shop, "SessionStart", source="startup") + hook(
        shop, "UserPromptSubmit", prompt="install packages with npm"
    )
    assert "Use pnpm" in told


def test_a_limit_is_set_and_the_next_call_held(tab: Tab, shop: Pages) -> None:
    story = shop.world.story(number=7, begin=time.time() - 60)
    with tab:
        page = tab.page
        page.goto(f"{shop.origin}/money")
        page.get_by_label("New limit", exact=True).fill("0.01/day")
        page.get_by_role("button", name="Set").click()
        expect(page.locator(".said")).to_contain_text("0.01/day")
        story.play(cut=True)
        call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": story.id}
        assert "Stopped by your user's limit" in hook(
            shop, "PreToolUse", **call, transcript_path=str(story.path)
        )
        page.goto(f"{shop.origin}/")
        expect(page.locator("#standing")).to_contain_text("stopped at 0.01/day")
        page.get_by_label("Raise to").fill("90/day")
        page.get_by_role("button", name="Raise").click()
        expect(page.locator(".said")).to_contain_text("90/day")
        assert hook(shop, "PreToolUse", **call, transcript_path=str(story.path)) == ""


def test_the_pages_follow_a_session_while_it_grows(tab: Tab, chrome: Browser, shop: Pages) -> None:
    story = shop.world.story(number=8, begin=time.time() - 600)
    with tab, Tab(chrome, shop) as other:
        tab.page.goto(f"{shop.origin}/")
        story.play(cut=True)
        card = tab.page.locator(
            "#live article", has=tab.page.locator(f'a[href="/session/{story.id}"]')
        )
        expect(card).to_contain_text("claude-opus")
        before = card.locator(".level").inner_text()
        other.page.goto(f"{shop.origin}/session/{story.id}")
        expect(other.page.get_by_role("slider")).to_have_attribute("max", "3")
        story.read("src/large.py", 9_000, 77)
        story.answer("That was long.")
        expect(other.page.get_by_role("slider")).to_have_attribute("max", "5")
        expect(other.page.locator("#request")).to_contain_text("src/large.py")
        expect(card.locator(".level")).not_to_have_text(before)


def test_pages_fit_a_narrow_screen(tab: Tab, shop: Pages) -> None:
    session = f"/session/{Path(shop.place.files()[0].path).stem}"
    first = shop.world.json("rules")["rules"][0]
    rule = f"/rules/{first['place']}:{first['name']}"
    tab.page.set_viewport_size({"width": 360, "height": 700})
    with tab:
        for path in ("/", "/rules", "/money", session, rule):
            tab.page.goto(f"{shop.origin}{path}")
            assert tab.page.evaluate("document.documentElement.scrollWidth") <= 360, path
    tab.page.set_viewport_size({"width": 1000, "height": 700})


def test_the_copy_to_share_is_drawn_without_a_server(
    tab: Tab, chrome: Browser, shop: Pages, tmp_path: Path
) -> None:
    with tab:
        tab.page.goto(f"{shop.origin}/session/{Path(shop.place.files()[0].path).stem}")
        with tab.page.expect_download() as download:
            tab.page.get_by_role("link", name="Export").click()
        download.value.save_as(tmp_path / "shared.html")
    context = chrome.new_context(offline=True, locale="en-US")
    page, problems = context.new_page(), list[str]()
    page.on("console", lambda said: problems.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.goto((tmp_path / "shared.html").as_uri())
    expect(page.locator(".u-over")).to_be_visible()
    page.get_by_role("slider").press("Home")
    expect(page.locator(".readout")).to_contain_text("request 1")
    assert problems == []
    context.close()


@pytest.mark.skipif("BRIM_E2E_ALL" not in os.environ, reason="a minute of hooks: make e2e plays it")
def test_a_recorded_session_played_through_the_installed_hooks_is_followed(
    chrome: Browser, world: World
) -> None:
    world.brim("init", "--agent", "claude")
    world.brim("limit", "5")
    environ = {
        **world.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{world.environ['PATH']}",
    }
    with served(world) as pages, Tab(chrome, pages) as tab:
        playing = subprocess.Popen(
            [sys.executable, str(EXAMPLES / "replay.py"), str(world.project)],
            env=environ,
            stdout=subprocess.DEVNULL,
        )
        expect(tab.page.locator("#live article")).to_contain_text("claude-sonnet")
        tab.page.locator("#live a").first.click()
        expect(tab.page.get_by_role("slider")).to_have_attribute("max", "20")
        assert playing.wait(300) == 0
        expect(tab.page.get_by_role("heading", name="compaction")).to_be_visible()
