# SPDX-License-Identifier: Apache-2.0
"""Connections to one server that are used again: a TLS handshake takes ten times the CPU time of a request.

open_url of ansible-core opens one for each request. It is still what speaks through a proxy.
"""

from __future__ import annotations

import http.client
import select
import ssl
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from ansible.module_utils.urls import make_context

IDLE = 5.0  # seconds without use, after which a connection is not used again: one that a server has lost is not met


class Kept(NamedTuple):
    """A connection that nobody uses now."""

    connection: http.client.HTTPConnection
    since: float


def is_direct(server: str) -> bool:
    """Whether the environment names no proxy for a server."""
    parts = urllib.parse.urlsplit(server)
    proxy = urllib.request.getproxies().get(parts.scheme)
    return not proxy or bool(urllib.request.proxy_bypass(parts.netloc))


def maker(server: str, ca_file: str | None, timeout: float) -> Callable[[], http.client.HTTPConnection]:
    """What makes connections to a server. The CAs are read for the first one."""
    parts, lock = urllib.parse.urlsplit(server), threading.Lock()
    host, contexts = parts.hostname or "", list[ssl.SSLContext]()

    def make() -> http.client.HTTPConnection:
        if parts.scheme != "https":
            return http.client.HTTPConnection(host, parts.port or 80, timeout=timeout)
        with lock:
            if not contexts:
                contexts.append(make_context(cafile=ca_file))
        return http.client.HTTPSConnection(host, parts.port or 443, timeout=timeout, context=contexts[0])

    return make


class Connections:
    """Connections to a server. Any thread may send; each request has a connection for itself.

    make: a new one, which is not open yet; path: that of the server; idle: see IDLE.
    """

    def __init__(
        self, make: Callable[[], http.client.HTTPConnection], path: str = "", idle: float | None = None
    ) -> None:
        self._make, self._path, self._idle = make, path, IDLE if idle is None else idle
        self._kept: list[Kept] = []
        self._lock = threading.Lock()

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Closes those that nobody uses."""
        with self._lock:
            while self._kept:
                self._kept.pop().connection.close()

    @contextmanager
    def send(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> Iterator[http.client.HTTPResponse]:
        """A response, whatever its status. Raises OSError or HTTPException."""
        connection, response = self._take(), None
        try:
            connection.request(method, self._path + path, body, dict(headers))
            response = connection.getresponse()
            yield response
        finally:
            # What was not read of this response would be read as the next one.
            if response is None or response.will_close or not response.isclosed():
                connection.close()
            else:
                with self._lock:
                    self._kept.append(Kept(connection, time.monotonic()))

    def _take(self) -> http.client.HTTPConnection:
        while True:
            with self._lock:
                if not self._kept:
                    break
                kept = self._kept.pop()
            if time.monotonic() - kept.since < self._idle and not _readable(kept.connection):
                return kept.connection
            kept.connection.close()
        return self._make()


def _readable(connection: http.client.HTTPConnection) -> bool:
    """Whether the server has ended it: there is nothing else that it may say now."""
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return bool(poll.poll(0))
