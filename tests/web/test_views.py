# SPDX-License-Identifier: Apache-2.0
"""Every view of the router: axe, each size, keys alone, without JavaScript, with hostile text."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any, Literal

from ansible_collections.sled.fleet.tests.web.conftest import Site, live
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

WIDTHS = (360, 768, 1440, 3840)


def overflow(page: Page) -> int:
    """How many pixels a page is wider than its window."""
    wider: int = page.evaluate("() => document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return wider


def test_axe_finds_nothing(site: Site) -> None:
    """All rules in light; in dark, the page differs by its colours alone."""
    context = site.context()
    found = []
    for path in site.pages():
        page = site.open(context, path)
        found += violations(page, path, {})
        page.emulate_media(color_scheme="dark")
        found += violations(page, path, {"runOnly": ["color-contrast"]})
        page.close()
    context.close()
    assert found == []


def violations(page: Page, path: str, options: dict[str, Any]) -> list[str]:
    response = Axe().run(page, options={"resultTypes": ["violations"], **options}).response
    return [
        f"{path}: {violation['id']}: {node['html']}"
        for violation in response["violations"]
        for node in violation["nodes"][:3]
    ]


def test_no_view_scrolls_sideways(site: Site) -> None:
    """With SLED_PICTURES, a folder, each view is painted in each width, in light and dark."""
    context, folder = site.context(), os.environ.get("SLED_PICTURES")
    page = context.new_page()
    wide = []
    for path in site.pages():
        page.goto(site.url(path))
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            if pixels := overflow(page):
                wide.append(f"{path} is {pixels} pixels too wide at {width}")
            if folder:
                paint(page, Path(folder) / f"{re.sub('[^a-z]+', '-', path).strip('-')}-{width}")
    context.close()
    assert wide == []


def paint(page: Page, file: Path) -> None:
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=f"{file}-{scheme}.png", full_page=True)


def test_every_view_is_readable_without_javascript(site: Site) -> None:
    context = site.context(java_script_enabled=False)
    page = context.new_page()
    for path in site.pages():
        page.goto(site.url(path))
        assert page.locator("main h1").first.inner_text(), path
        if path == "/ui/":
            assert page.locator(".cells a").count() == 40
            assert "of 40 nodes" in page.locator("h1").inner_text()
    context.close()


def focused(page: Page) -> str:
    """The link that has the focus, which must be seen."""
    style = page.evaluate("() => getComputedStyle(document.activeElement).outline")
    assert "none" not in style and " 0px" not in style, style
    href: str = page.evaluate("() => document.activeElement.getAttribute('href') ?? document.activeElement.name")
    return href


def test_keys_are_enough(site: Site) -> None:
    context = site.context()
    page = site.open(context)
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys")).to_be_hidden()
    cells = page.locator(".cells a")
    for _ in range(100):
        page.keyboard.press("Tab")
        if focused_in_grid(page):
            break
    first = focused(page)
    page.keyboard.press("ArrowRight")
    assert focused(page) == cells.nth(1).get_attribute("href") != first
    page.keyboard.press("ArrowDown")
    assert focused_in_grid(page) and focused(page) not in (first, cells.nth(1).get_attribute("href"))
    page.keyboard.press("/")
    assert focused(page) == "q"
    page.keyboard.type("n1")
    page.keyboard.press("Enter")
    expect(page).to_have_url(site.url("/ui/nodes?q=n1"))
    live(page)
    page.keyboard.press("j")
    page.keyboard.press("j")
    page.keyboard.press("k")
    target = focused(page)
    page.keyboard.press("Enter")
    expect(page).to_have_url(site.url(target))
    live(page)
    page.keyboard.press("f")
    expect(page).to_have_url(site.url("/ui/nodes?phase=failed"))
    context.close()


def focused_in_grid(page: Page) -> bool:
    found: bool = page.evaluate("() => document.activeElement.matches('.cells a')")
    return found


def test_hostile_text_is_inert(site: Site) -> None:
    context = site.context()
    site.reports.clear()
    for path in site.pages():
        page = site.open(context, path)
        site.fleet.client.post_event("n1", "entry", f"<script>window.hit=1</script> {path}")  # also by the stream
        if path == "/ui/":
            expect(page.locator(".feed")).to_contain_text("<script>window.hit=1</script> /ui/")
        assert page.evaluate("() => window.hit") is None, path
        page.close()
    context.close()
    assert site.reports == []
