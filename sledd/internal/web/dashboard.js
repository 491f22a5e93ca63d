// SPDX-License-Identifier: Apache-2.0
// What a page of the dashboard does beyond reading and following links: it stays current, and has keys.
"use strict";
(() => {
  const pause = 2000; // ms between two readings
  const patience = 3000; // ms for an answer
  const share = 10; // a reading that takes long is repeated after so many times as long
  const main = document.getElementById("main");
  const state = document.getElementById("state");
  const keys = document.getElementById("keys");
  const search = document.querySelector(".top input[type=search]");
  let timer = 0;
  let current = new Date();

  // Attributes that belong to the reader, not to the page.
  const kept = (node, name) => name === "tabindex" || (name === "open" && node.tagName === "DETAILS");

  function copyAttributes(from, to) {
    for (const { name } of [...to.attributes]) {
      if (!from.hasAttribute(name) && !kept(to, name)) to.removeAttribute(name);
    }
    for (const { name, value } of from.attributes) {
      if (to.getAttribute(name) !== value && !kept(to, name)) to.setAttribute(name, value);
    }
  }

  // morph makes one element like another one and leaves in place what is the same, with focus and selection.
  function morph(from, to) {
    copyAttributes(from, to);
    if (to.tagName === "FORM") return; // somebody may be typing
    const after = [...from.childNodes];
    const before = [...to.childNodes];
    after.forEach((node, i) => {
      const old = before[i];
      if (!old) to.append(document.importNode(node, true));
      else if (old.nodeType !== node.nodeType || old.nodeName !== node.nodeName) old.replaceWith(document.importNode(node, true));
      else if (node.nodeType === Node.ELEMENT_NODE) morph(node, old);
      else if (old.data !== node.data) old.data = node.data;
    });
    before.slice(after.length).forEach((node) => node.remove());
  }

  // swap shows a newer state of the page. The focus follows what it is on, also if that moves.
  function swap(next) {
    const focused = document.activeElement;
    const target = main.contains(focused) && focused.getAttribute("href");
    const place = target && [...main.querySelectorAll("a")].filter((a) => a.getAttribute("href") === target).indexOf(focused);
    morph(next.getElementById("main"), main);
    if (target && document.activeElement.getAttribute("href") !== target) {
      const same = [...main.querySelectorAll("a")].filter((a) => a.getAttribute("href") === target);
      same[Math.min(place, same.length - 1)]?.focus({ preventScroll: true });
    }
    document.title = next.title;
    document.querySelector(".foot").replaceChildren(...document.importNode(next.querySelector(".foot"), true).childNodes);
    oneStop();
  }

  function show(fresh) {
    if (fresh) current = new Date();
    const text = fresh ? "live" : `stale since ${current.toLocaleTimeString([], { hour12: false })}`;
    if (state.textContent !== text) state.textContent = text;
    document.body.classList.toggle("stale", !fresh);
  }

  // read gets the page again. After a login that has ended, and after an upgrade of sledd, the browser loads it as a whole.
  async function read() {
    const begin = performance.now();
    try {
      const answer = await fetch(location.href, { cache: "no-store", signal: AbortSignal.timeout(patience) });
      const next = new DOMParser().parseFromString(await answer.text(), "text/html");
      const sheet = (page) => page.querySelector("link[rel=stylesheet]")?.getAttribute("href");
      if (answer.status === 401 || answer.status === 404 || (answer.ok && sheet(next) !== sheet(document))) {
        location.reload();
        return;
      }
      if (answer.ok && !document.hidden) swap(next);
      show(answer.ok);
    } catch {
      show(false);
    }
    schedule(Math.max(pause, share * (performance.now() - begin)));
  }

  function schedule(wait) {
    clearTimeout(timer);
    if (!document.hidden) timer = setTimeout(read, Math.min(wait, 60000));
  }

  // oneStop makes the grid one stop of the tab key; arrows move within.
  function oneStop() {
    const cells = [...main.querySelectorAll(".cells a")];
    if (cells.length > 0 && !cells.some((cell) => cell.tabIndex === 0)) cells[0].tabIndex = 0;
  }

  function focusCell(from, to) {
    if (!to) return;
    from.tabIndex = -1;
    to.tabIndex = 0;
    to.focus();
  }

  // nearest is the closest cell in the next row of cells above or below.
  function nearest(cells, from, down) {
    const at = from.getBoundingClientRect();
    const far = (box) => 10 * Math.abs(box.top - at.top) + Math.abs(box.left - at.left);
    const others = cells.map((cell) => [cell, cell.getBoundingClientRect()]);
    const beyond = others.filter(([, box]) => (down ? box.top > at.top + 2 : box.top < at.top - 2));
    return beyond.sort(([, a], [, b]) => far(a) - far(b))[0]?.[0];
  }

  function moveInGrid(cell, key) {
    const cells = [...main.querySelectorAll(".cells a")];
    const at = cells.indexOf(cell);
    if (key === "ArrowRight") focusCell(cell, cells[at + 1]);
    else if (key === "ArrowLeft") focusCell(cell, cells[at - 1]);
    else focusCell(cell, nearest(cells, cell, key === "ArrowDown"));
  }

  function moveInRows(step) {
    const rows = [...main.querySelectorAll("tbody th a")];
    const at = rows.indexOf(document.activeElement);
    const to = rows[at < 0 ? (step > 0 ? 0 : rows.length - 1) : at + step];
    to?.focus();
    to?.scrollIntoView({ block: "nearest" });
  }

  const pressed = {
    "/": () => search?.focus(),
    "?": () => (keys.open ? keys.close() : keys.showModal()),
    f: () => location.assign("/ui/nodes?phase=failed"),
    j: () => moveInRows(1),
    k: () => moveInRows(-1),
  };

  document.addEventListener("keydown", (event) => {
    const target = event.target;
    if (event.ctrlKey || event.metaKey || event.altKey || target.matches("input, select, textarea")) return;
    if (event.key.startsWith("Arrow") && target.matches(".cells a")) {
      event.preventDefault();
      moveInGrid(target, event.key);
    } else if (Object.hasOwn(pressed, event.key)) {
      event.preventDefault();
      pressed[event.key]();
    }
  });

  if (!state) return; // nobody is logged in, or the page is an error
  oneStop();
  show(true);
  document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : read()));
  schedule(pause);
})();
