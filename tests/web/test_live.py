# SPDX-License-Identifier: Apache-2.0
"""Pages stay current: they equal `sledctl status`, and say since when they do not."""

from __future__ import annotations

import base64
import json
import random
import subprocess
import time

from ansible_collections.sled.fleet.tests.rollout.fleet import BIN, TOKEN, Fleet, wait_for
from ansible_collections.sled.fleet.tests.web.conftest import Site, live
from playwright.sync_api import Page, Route, expect

CELLS = "cells => Object.fromEntries(cells.map(cell => cell.title.split(': ')))"
MOMENTS = 20
BEHIND = 2  # seconds
KEY = "ssh-ed25519 " + base64.b64encode(b"\0\0\0\x0bssh-ed25519\0\0\0\x20" + bytes(32)).decode()


def status(fleet: Fleet) -> dict[str, str]:
    """The phase of each node, as `sledctl status` prints it."""
    files = ["--ca", str(fleet.folder / "ca.crt"), "--token-file", str(fleet.folder / "admin.token")]
    where = ["--server", fleet.url, *files]
    done = subprocess.run(
        [str(BIN / "sledctl"), *where, "status", "-o", "json"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return {node["name"]: node["status"]["phase"] or "unseen" for node in json.loads(done.stdout)}


def equal(page: Page, fleet: Fleet) -> int:
    """Waits until the page shows each phase that the API has had for BEHIND seconds; returns how often it did not."""
    readings: list[tuple[float, dict[str, str]]] = []
    late = 0

    def equals() -> bool:
        nonlocal late
        readings.append((time.monotonic(), status(fleet)))
        shown, now = page.locator(".cells a").evaluate_all(CELLS), time.monotonic()
        assert shown.keys() == readings[-1][1].keys()
        first = max((number for number, (at, _) in enumerate(readings) if at <= now - BEHIND), default=-1)
        if first < 0:
            return False
        phases = {node: {reading[node] for _, reading in readings[first:]} for node in shown}
        wrong = [node for node, had in phases.items() if len(had) == 1 and shown[node] not in had]
        late += bool(wrong)
        return not wrong

    wait_for("the page to equal sledctl status", equals)
    return late


def act(fleet: Fleet, chance: random.Random, node: str) -> None:
    """Something happens to a node: a write, a failure, a wipe, a rescue, a power cut."""
    what = chance.choice(("image", "fail", "wipe", "rescue", "off"))
    binding = fleet.client.find("bindings", node)
    revision = int(binding["revision"]) if binding else 0
    if what == "fail":
        fleet.set(node, fail={"step": "write", "code": 5, "times": 1, "reason": "digest mismatch"})
    if what in ("image", "fail"):
        fleet.client.put("bindings", node, {"node": node, "image": chance.choice(("v1", "v2"))}, revision)
    elif what == "wipe" and binding:
        fleet.client.delete("bindings", node, revision)
    elif what == "rescue":
        fleet.client.put_rescue(node, [KEY], False)
    fleet.power(node, "off" if what == "off" else "cycle")


def test_the_page_equals_sledctl_status(site: Site, chance: random.Random) -> None:
    fleet, context = site.fleet, site.context()
    page, list_page = site.open(context), site.open(context, "/ui/nodes?sort=name")
    playbook = fleet.play("-e", "image=v2", "--limit", "n37,n38,n39,n40", rollout={"batch": "2"})
    late = []
    for _ in range(MOMENTS):
        for node in chance.sample(fleet.nodes[2:36], 4):
            act(fleet, chance, node)
        late.append(equal(page, fleet))
    playbook.wait(600)
    late.append(equal(page, fleet))
    live(list_page)
    print(f"more than {BEHIND} s behind at {sum(late)} looks in {len(late)} moments")
    context.close()


def test_twelve_tabs_of_one_browser_load(site: Site) -> None:
    """A browser has six connections to a host. To Playwright every tab is visible, as windows side by side are."""
    context = site.context()
    pages = [site.open(context) for _ in range(12)]
    site.fleet.client.post_event("n3", "entry", "seen by all")
    for page in pages:
        expect(page.locator(".feed")).to_contain_text("seen by all")
        live(page)
    context.close()


def test_a_page_says_that_it_is_stale(site: Site) -> None:
    context = site.context()
    page = site.open(context)
    start = time.monotonic()
    site.fleet.kill_sledd()
    expect(page.locator("#state")).to_contain_text("stale since ")
    stale, cell = time.monotonic() - start, page.locator(".cells a").first
    expect(cell).to_be_visible()  # what was there stays
    site.fleet.start_sledd()
    start = time.monotonic()
    live(page)
    equal(page, site.fleet)
    print(f"stale after {stale:.1f} s, right {time.monotonic() - start:.1f} s after the return")
    context.close()


def test_an_old_tab_reloads_after_an_upgrade(site: Site) -> None:
    context = site.context()
    page = site.open(context)
    page.evaluate("() => { window.old = true; }")
    newer = page.content().replace("/ui/static/", "/ui/static/0")

    def answer(route: Route) -> None:
        if route.request.resource_type == "fetch":
            route.fulfill(body=newer, content_type="text/html")
        else:
            route.continue_()

    page.route("**/ui/", answer)
    page.evaluate("() => document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_function("() => !window.old", timeout=60_000)
    live(page)
    context.close()


def test_a_login_that_ends_leads_to_the_login(site: Site) -> None:
    context = site.context()
    page, other = site.open(context), site.open(context, "/ui/images")
    other.get_by_role("button", name="Log out").click()
    expect(page.get_by_label("Token")).to_be_visible()
    assert TOKEN not in page.content()
    context.close()
