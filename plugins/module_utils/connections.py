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
from collections.abc import Iterator, Mapping
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


class Connections:
    """Connections to a server. Any thread may send; each request has a connection for itself."""

    def __init__(self, server: str, ca_file: str | None, timeout: float) -> None:
        self._kept: list[Kept] = []
        parts = urllib.parse.urlsplit(server)
        self._host, self._path, self._tls = parts.hostname or "", parts.path, parts.scheme == "https"
        self._port = parts.port or (443 if self._tls else 80)
        self._ca_file, self._timeout = ca_file, timeout
        self._context: ssl.SSLContext | None = None
        self._lock = threading.Lock()

    def __del__(self) -> None:
        for kept in self._kept:
            kept.connection.close()

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
            if time.monotonic() - kept.since < IDLE and not _readable(kept.connection):
                return kept.connection
            kept.connection.close()
        if not self._tls:
            return http.client.HTTPConnection(self._host, self._port, timeout=self._timeout)
        with self._lock:
            self._context = self._context or make_context(cafile=self._ca_file)
        return http.client.HTTPSConnection(self._host, self._port, timeout=self._timeout, context=self._context)


def _readable(connection: http.client.HTTPConnection) -> bool:
    """Whether the server has ended it: there is nothing else that it may say now."""
    poll = select.poll()
    poll.register(connection.sock, select.POLLIN)
    return bool(poll.poll(0))
