// SPDX-License-Identifier: Apache-2.0
// What a page of the dashboard does beyond reading and following links: it stays current, and has keys.
"use strict";
(() => {
  const pause = 1000; // ms before another attempt
  const silence = 4000; // ms without a message, after which the page is stale
  const main = document.getElementById("main");
  const state = document.getElementById("state");
  const keys = document.getElementById("keys");
  const search = document.querySelector(".top input[type=search]");
  let timer = 0;
  let turn = 0; // of following: what waits for an older one gives up
  let end = () => {}; // closes the stream
  let lines = []; // of the page, as the stream sent them
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
    if (to.className === "cells" && !from.hasChildNodes()) return; // a stream sends them by themselves
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
    oneStop();
  }

  const parse = (text) => new DOMParser().parseFromString(text, "text/html");
  const places = (page) => page.querySelector(".groups")?.dataset.places;

  // take applies a message: lines, which are new or [first, count] of the last ones, and cells of the grid.
  function take({ time, clock, lines: patch, cells }) {
    if (patch) {
      lines = patch.flatMap((part) => (typeof part === "string" ? part : lines.slice(part[0], part[0] + part[1])));
      const next = parse(`<main id="main">${lines.join("\n")}</main>`);
      if (places(next) !== places(document)) {
        read(); // cells came, went or moved
        return;
      }
      swap(next);
    }
    if (cells) paint(cells);
    const shown = document.querySelector(".foot time");
    shown.dateTime = time;
    shown.textContent = clock;
    show(true);
  }

  function paint(cells) {
    for (const cell of main.querySelectorAll(".cells a")) {
      const [kind, phase] = cells[cell.getAttribute("href").slice("/ui/nodes/".length)] ?? [];
      if (!kind) continue;
      const title = cell.title.replace(/: .*$/, `: ${phase}`);
      if (cell.className !== kind) cell.className = kind;
      if (cell.title !== title) cell.title = title;
    }
  }

  function show(fresh) {
    if (fresh) current = new Date();
    const text = fresh ? "live" : `stale since ${current.toLocaleTimeString([], { hour12: false })}`;
    if (state.textContent !== text) state.textContent = text;
    document.body.classList.toggle("stale", !fresh);
  }

  // read gets the page again, after a gap or when its cells move, and follows it from there. After a login that has
  // ended, and after an upgrade of sledd, the browser loads it as a whole.
  async function read() {
    leave();
    try {
      const answer = await fetch(location.href, { cache: "no-store", signal: AbortSignal.timeout(silence) });
      const next = parse(await answer.text());
      const sheet = (page) => page.querySelector("link[rel=stylesheet]")?.getAttribute("href");
      if (answer.status === 401 || answer.status === 404 || (answer.ok && sheet(next) !== sheet(document))) {
        location.reload();
        return;
      }
      if (!answer.ok || document.hidden) throw new Error(answer.statusText);
      swap(next);
      follow();
      show(true);
    } catch {
      lost();
    }
  }

  // place is one of four for streams, as a browser has six connections to a host: held until it is released.
  async function place() {
    for (const name of ["1", "2", "3", "4"]) {
      const release = await new Promise((resolve) => {
        const hold = (lock) => (lock ? new Promise((done) => resolve(done)) : resolve(null));
        navigator.locks.request(`stream ${name}`, { ifAvailable: true }, hold);
      });
      if (release) return release;
    }
    return null;
  }

  // follow opens the stream of changes, at the address of the page. A hidden tab has none, and a visible one for which
  // there is no place reads the page again.
  async function follow() {
    leave();
    if (document.hidden) return;
    const mine = turn;
    const release = await place();
    if (mine !== turn) {
      release?.();
      return;
    }
    if (!release) {
      timer = setTimeout(read, 2 * pause);
      return;
    }
    const stream = new EventSource(location.pathname + location.search);
    end = () => {
      stream.close();
      release();
    };
    stream.onmessage = (event) => {
      clearTimeout(timer);
      timer = setTimeout(lost, silence);
      take(JSON.parse(event.data));
    };
    stream.onerror = lost;
    timer = setTimeout(lost, silence);
  }

  function leave() {
    clearTimeout(timer);
    turn += 1;
    end();
    end = () => {};
  }

  function lost() {
    leave();
    show(false);
    if (!document.hidden) timer = setTimeout(read, pause);
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
  document.addEventListener("visibilitychange", () => (document.hidden ? lost() : read()));
  if (document.body.classList.contains("stale")) {
    current = new Date(document.querySelector(".foot time").dateTime);
    lost();
  } else {
    show(true);
    follow();
  }
})();
