# SPDX-License-Identifier: Apache-2.0
"""What an operator does by the page, with keys alone."""

from __future__ import annotations

import time

from ansible_collections.sled.fleet.tests.rollout.fleet import wait_for
from ansible_collections.sled.fleet.tests.web.conftest import Site, live
from ansible_collections.sled.fleet.tests.web.keys import fill, tab_to
from playwright.sync_api import expect


def test_the_first_machine(site: Site) -> None:
    """From its first claim to operational."""
    fleet, node, mac = site.fleet, "n40", site.fleet.macs["n40"]
    fleet.client.delete("nodes", mac, int(fleet.node(node)["revision"]))
    context = site.context()
    page = site.open(context)
    fleet.power(node, "cycle")
    expect(page.get_by_text("Discovered", exact=True)).to_be_visible()
    tab_to(page, "Accept…")
    page.keyboard.press("Enter")
    expect(page.locator(".act")).to_contain_text(mac)
    fill(page, "Name", node)
    fill(page, "Disk for images", f"serial:{node}")
    fill(page, "Labels", "rack=" + fleet.racks[node])
    tab_to(page, "Accept")
    page.keyboard.press("Enter")
    expect(page).to_have_url(site.url(f"/ui/nodes/{mac}"))
    expect(page.get_by_role("link", name="Install an image…")).to_be_visible()
    tab_to(page, "Install an image…")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Image", exact=True)).to_have_value("v1")
    tab_to(page, "Show what is wiped")
    page.keyboard.press("Enter")
    shown = page.locator(".act .facts").inner_text()
    assert f"serial:{node}" in shown, shown
    fill(page, f"Type the name of the node, {node}", node)
    tab_to(page, "Wipe and install")
    start = time.monotonic()
    page.keyboard.press("Enter")
    wait_for("the first step", lambda: any(event["kind"] == "begin" for event in fleet.events(node)))
    begun = time.monotonic() - start
    expect(page.locator(".head h1")).to_contain_text("operational")
    plan = next(event for event in fleet.events(node) if event["kind"] == "plan" and event.get("steps", 0))
    assert plan["detail"].endswith(f" on serial:{node}"), plan
    print(f"{begun:.1f} s from the last key to the first step")
    context.close()


def test_alarms_are_acknowledged(site: Site) -> None:
    fleet, mac = site.fleet, site.fleet.macs["n1"]
    wait_for("n1 to fail", lambda: fleet.node("n1")["status"]["phase"] == "failed")
    context = site.context()
    page = site.open(context)
    site.claim("n1")
    expect(page.locator("aside").get_by_text("alarm rival")).to_be_visible()
    tab_to(page, "Acknowledge…")
    page.keyboard.press("Enter")
    expect(page).to_have_url(site.url(f"/ui/nodes/{mac}/alarms"))
    tab_to(page, "Acknowledge")
    page.keyboard.press("Enter")
    expect(page).to_have_url(site.url(f"/ui/nodes/{mac}"))
    live(page)
    expect(page.get_by_text("alarm rival")).to_have_count(0)
    assert [(event["actor"], event["via"]) for event in fleet.events("n1") if event["kind"] == "ack"] == [
        ("admin", "web")
    ]
    context.close()
