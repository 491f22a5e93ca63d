# SPDX-License-Identifier: Apache-2.0
"""A real sledd with doubles as machines, and Debian's Chromium that looks at its dashboard."""

from __future__ import annotations

import re
import shutil
import ssl
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.sled.fleet.tests.rollout.conftest import chance
from ansible_collections.sled.fleet.tests.rollout.fleet import TOKEN, TREE, Fleet
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

__all__ = ["chance"]

PATIENCE = 60_000  # ms for what takes less than a second on an idle machine
HOSTILE = (
    '"><script>window.hit=1</script>',
    "<img src=x onerror=window.hit=1>",
    "\x1b[31mred \x1b]0;title\x07",
    "\u202egnp.exe \u2066",
    "w" * 4000,
)


def router(source: str) -> list[str]:
    """The paths of all views, or of all forms, as sledd registers them."""
    text = (TREE / "sledd/internal/web" / source).read_text()
    found = re.findall(r'^\t\t\{"(/ui/[^"]*)", ', text, re.MULTILINE)
    assert len(found) > 5, found
    return found


class Site:
    """A fleet of 40 doubles, and browsers for its dashboard."""

    def __init__(self, fleet: Fleet, browser: Browser) -> None:
        self.fleet, self._browser = fleet, browser
        self.rollout = ""
        self.reports: list[str] = []  # of a policy that forbids something, and of a script that fails

    def views(self) -> list[str]:
        """An address of each view."""
        return [*self._addresses("web.go"), "/ui/nodes?phase=failed&sort=-since"]

    def pages(self) -> list[str]:
        """An address of each view and of each form, and one of no page."""
        return [*self.views(), *self._addresses("actions.go"), "/ui/absent"]

    def _addresses(self, source: str) -> list[str]:
        values = {"{$}": "", "{node}": self.fleet.macs["n1"], "{rollout}": self.rollout}
        return [re.sub(r"{.*?}", lambda match: values[match[0]], path) for path in router(source)]

    def url(self, path: str = "/ui/") -> str:
        return self.fleet.url + path

    def claim(self, node: str) -> None:
        """Another machine claims to be a node."""
        mac, trust = self.fleet.macs[node], ssl.create_default_context(cafile=str(self.fleet.folder / "ca.crt"))
        text = f"hello 1\nboot id=another nic={mac}\n".encode()
        asked = urllib.request.Request(self.url(f"/node/v1/{mac.replace(':', '-')}/hello"), data=text, method="POST")
        urllib.request.urlopen(asked, context=trust, timeout=60).close()

    def context(self, **options: Any) -> BrowserContext:
        """A browser that is logged in."""
        made = self._browser.new_context(ignore_https_errors=True, **options)
        made.set_default_timeout(PATIENCE)
        page = made.new_page()
        page.goto(self.url())
        page.get_by_label("Token").fill(TOKEN)
        page.keyboard.press("Enter")
        expect(page.locator("form.who")).to_be_visible()
        page.close()
        made.on("console", lambda message: self.note(message.text))
        made.on("weberror", lambda error: self.note(str(error.error)))
        return made

    def note(self, text: str) -> None:
        """Keeps what a browser reports, apart from answers that are no 200: those are no fault of a page."""
        if "Failed to load resource" not in text:
            self.reports.append(text)

    def open(self, context: BrowserContext, path: str = "/ui/") -> Page:
        """A page; a view is live."""
        page = context.new_page()
        page.goto(self.url(path))
        if path not in self.pages() or path in self.views():
            live(page)
        return page


def live(page: Page) -> None:
    expect(page.locator("#state")).to_have_text("live")


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Root runs Chromium without its sandbox: it sees pages of sledd alone."""
    path = shutil.which("chromium")
    assert path, "chromium is not installed: tools/setup"
    expect.set_options(timeout=PATIENCE)
    fleet = Fleet(tmp_path_factory.mktemp("fleet"), 40, racks=4)
    try:
        fleet.begin()
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
            made = Site(fleet, browser)
            fill(made)
            yield made
            browser.close()
    finally:
        fleet.end()


def fill(site: Site) -> None:
    """A fleet in which something has happened, with hostile text wherever the API accepts it."""
    fleet, text = site.fleet, " ".join(HOSTILE)
    fleet.set("n1", fail={"step": "write", "code": 5, "times": 1, "reason": "<script>window.hit=1</script>"})
    for node in ("n1", "n2"):
        fleet.client.put("bindings", node, {"node": node, "image": "v1"}, 0)
        fleet.power(node, "cycle")
        fleet.client.post_event(node, "entry", text[:500], text)
    names = ["n1", "n2", "n3"]
    spec = {"nodes": names, "desired": text[:200], "canary": "1", "batch": "2", "failure_budget": "50%"}
    site.rollout = fleet.client.start_rollout(spec, "reimage")["name"]
    runs = [{"node": "n1", "state": "failed", "reason": text[:500]}, {"node": "n2", "state": "running"}]
    fleet.client.put_runs(site.rollout, runs)
