# SPDX-License-Identifier: Apache-2.0
"""Keys alone."""

from __future__ import annotations

from playwright.sync_api import Page

FOCUSED = "text => document.activeElement.textContent.trim() === text && document.activeElement.href !== ''"


def tab_to(page: Page, text: str) -> None:
    """Moves the focus to a link or button by the tab key."""
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate(FOCUSED, text):
            return
    raise AssertionError(f"no key leads to {text}: {page.locator('main').inner_text()}")


def fill(page: Page, label: str, text: str) -> None:
    """Types into a field that the tab key leads to."""
    field = page.get_by_label(label, exact=True)
    for _ in range(50):
        page.keyboard.press("Tab")
        if field.evaluate("field => field === document.activeElement"):
            break
    page.keyboard.press("Control+A")
    page.keyboard.type(text)
