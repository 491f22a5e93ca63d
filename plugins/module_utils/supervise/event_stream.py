# SPDX-License-Identifier: Apache-2.0
"""The event stream of sledd, for all nodes at once: it tells when to read the nodes again, and nothing else.

The content of an event is not used, so an event that is lost costs time and no more.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ansible_collections.sled.fleet.plugins.module_utils.client import ApiError, Client, Json, SledError

SHORTEST_PAUSE, LONGEST_PAUSE = 1.0, 15.0  # seconds between two attempts to open the stream
LONGEST_LINE, PART = 1 << 20, 1 << 16  # bytes: of a line, and of what is read at once


def lines(response: Any) -> Iterator[bytes]:
    """The whole lines of a response, as they come, without their ends. Raises SledError for an endless one."""
    rest = b""
    while part := response.read1(PART):
        *whole, rest = (rest + part).split(b"\n")
        yield from whole
        if len(rest) > LONGEST_LINE:
            raise SledError(f"event stream: a line has more than {LONGEST_LINE} bytes")


def messages(lines: Iterable[bytes]) -> Iterator[tuple[int, Json]]:
    """Reads server-sent events: the id after which to resume, 0 if there is none, and the event.

    Comments, other fields, and data that is not a JSON object are left out.
    """
    number, data = 0, list[bytes]()
    for raw in lines:
        line = raw.rstrip(b"\r\n")
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"id" and value.isdigit() and len(value) < 20:
            number = int(value)
        elif not line:
            event = _object(b"\n".join(data))
            if event:
                yield number, event
            number, data = 0, []


def _object(text: bytes) -> Json:
    try:
        event = json.loads(text or b"{}")
    except ValueError:
        return {}
    return event if isinstance(event, dict) else {}


class EventStream:
    """Follows the stream in a thread, and opens it again when it ends."""

    def __init__(self, client: Client, moved: Callable[[str], None]) -> None:
        self.live = False  # whether the stream is open
        self._client = client
        self._moved = moved  # called with the MAC of a node; empty: any may have moved
        self._after = 0
        self._stopped = threading.Event()

    def start(self) -> None:
        """Starts the thread, which ends with the process."""
        threading.Thread(target=self._run, name="stream", daemon=True).start()

    def stop(self) -> None:
        """Opens the stream no more."""
        self._stopped.set()

    def _run(self) -> None:
        pause = SHORTEST_PAUSE
        while not self._stopped.is_set():
            before = self._after
            try:
                self.follow()
            except ApiError as error:
                if error.status == 410:  # sledd holds it no more
                    self._after = 0
            except SledError:
                pass  # whoever reads the nodes reports that sledd is away
            self.live = False
            pause = SHORTEST_PAUSE if self._after > before else min(2 * pause, LONGEST_PAUSE)
            self._stopped.wait(pause)

    def follow(self) -> None:
        """Follows the stream once, to its end."""
        with self._client.events(self._after) as response:
            self.live = True
            self._moved("")
            for number, event in messages(lines(response)):
                self._after = max(self._after, number)
                self._moved(str(event.get("mac") or ""))
                if self._stopped.is_set():
                    return
