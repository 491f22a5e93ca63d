# SPDX-License-Identifier: Apache-2.0
"""HTTP for BMCs: basic or digest, a CA of one's own or a pinned certificate, never through a proxy, sent on to nowhere.

open_url of ansible-core knows neither digest nor pinning. What it is built on, urllib, does, and opens a connection for
each request; without digest a connection is kept for a while, as a handshake is most of what a request costs a BMC.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import http.client
import socket
import ssl
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, NoReturn

from ansible_collections.sled.fleet.plugins.module_utils.connections import Connections
from ansible_collections.sled.fleet.plugins.module_utils.power.driver import Driver

LONGEST = 4 << 20  # bytes of an answer
IDLE = 2.0  # seconds without use, after which a connection is not used again


class NotPinned(OSError):
    """The certificate is another one."""


class Refusal(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(f"{status} {http.client.responses.get(status, '')}".rstrip())
        self.status = status
        self.body = body


def digits(fingerprint: str) -> str:
    """A SHA-256 fingerprint, however it is written."""
    return fingerprint.lower().removeprefix("sha256:").replace(":", "").strip()


@functools.cache  # reading the CAs of the system takes 20 ms of CPU time, and a boot has ten requests
def trusting(ca_file: str | None) -> ssl.SSLContext:
    """What trusts a CA; None: those of the system."""
    return ssl.create_default_context(cafile=ca_file)


@functools.cache
def unverified() -> ssl.SSLContext:
    """What trusts any certificate. The pin proves more than a CA."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


class _Connection(http.client.HTTPConnection):
    """Connects to the address that was allowed, whatever its name resolves to by now; verifies before anything is sent.

    The context is that of HTTPS, and the pin may be empty.
    """

    def __init__(self, peer: str, context: ssl.SSLContext | None, pin: str, host: str, **rest: Any) -> None:
        self.default_port = 443 if context else 80
        super().__init__(host, **rest)
        self.peer, self.context, self.pin = peer, context, pin

    def connect(self) -> None:
        self.sock = socket.create_connection((self.peer, self.port), self.timeout)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not self.context:
            return
        self.sock = self.context.wrap_socket(self.sock, server_hostname=self.host)
        have = hashlib.sha256(self.sock.getpeercert(binary_form=True) or b"").hexdigest()
        if self.pin not in ("", have):
            self.close()
            raise NotPinned(have)


class _Handler(urllib.request.HTTPSHandler, urllib.request.HTTPHandler):
    def __init__(self, connection: Any, context: ssl.SSLContext) -> None:
        super().__init__(context=context)
        self._connection = connection

    def http_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(self._connection, req)

    https_open = http_open


class _OnceDigest(urllib.request.HTTPDigestAuthHandler):
    """Answers one challenge: more would lock the account."""

    def http_error_401(self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any) -> Any:
        if req.has_header("Authorization"):
            return None
        try:
            return super().http_error_401(req, fp, code, msg, headers)
        finally:
            fp.close()


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *of: Any, **_: Any) -> None:
        return None


class Web:
    """One BMC's web service."""

    def __init__(self, driver: Driver, base: str, digest: bool = False) -> None:
        self._driver = driver
        self._base = base
        tls, context = base.startswith("https:"), self._context()
        pin = digits(driver.options.get("fingerprint") or "")
        self._connection = functools.partial(_Connection, driver.destination(), context if tls else None, pin)
        user, secret = driver.options["username"], driver.secret()
        self._headers = dict[str, str]()
        self.tag = ""  # ETag of the last answer
        self._digest: urllib.request.OpenerDirector | None = None
        self._kept = Connections(self._connect, idle=IDLE)
        if digest:
            words = urllib.request.HTTPPasswordMgrWithDefaultRealm()
            words.add_password(None, base, user, secret)
            handler = _Handler(self._connection, context)
            self._digest = urllib.request.build_opener(
                urllib.request.ProxyHandler({}), _NoRedirect(), handler, _OnceDigest(words)
            )
        else:
            self._headers["Authorization"] = "Basic " + base64.b64encode(f"{user}:{secret}".encode()).decode()

    def close(self) -> None:
        """Ends the connection that is kept."""
        self._kept.close()

    def _context(self) -> ssl.SSLContext:
        """Whom it trusts."""
        options = self._driver.options
        if options.get("fingerprint"):
            return unverified()
        try:
            return trusting(options.get("ca_file"))
        except (OSError, ssl.SSLError) as error:
            self._driver.fail("settings", f"ca_file {options.get('ca_file')}: {error.strerror or error}")

    def _connect(self) -> http.client.HTTPConnection:
        return self._connection(urllib.parse.urlsplit(self._base).netloc, timeout=self._driver.timeout)

    def send(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> bytes:
        """One request.

        Raises Refusal for an answer that is an error; everything else becomes an error of the driver.
        """
        sent = {**self._headers, **(headers or {})}
        try:
            if self._digest:
                request = urllib.request.Request(self._base + path, body, sent, method=method)  # noqa: S310
                status, answer = self._opened(self._digest, request)
            else:
                status, answer = self._directly(method, path, body, sent)
        except urllib.error.URLError as error:
            self._unreachable(error.reason)
        except (http.client.HTTPException, OSError) as error:
            self._unreachable(error)
        if status in (401, 403):
            self._driver.wrong_credentials(str(status))
        if status >= 300:
            raise Refusal(status, answer)
        return answer

    def _opened(self, opener: urllib.request.OpenerDirector, request: urllib.request.Request) -> tuple[int, bytes]:
        try:
            with opener.open(request, timeout=self._driver.timeout) as answer:
                return answer.status, bytes(answer.read(LONGEST))
        except urllib.error.HTTPError as error:
            with error:
                return error.code, bytes(error.read(LONGEST))

    def _directly(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        try:
            return self._once(method, path, body, headers)
        except ConnectionError:  # a BMC may close a connection at any time; a second reset at once is the same reset
            self.close()
        return self._once(method, path, body, headers)

    def _once(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        with self._kept.send(method, path, body, headers) as answer:
            self.tag = answer.headers.get("ETag") or ""
            return answer.status, bytes(answer.read(LONGEST))

    def _unreachable(self, reason: Any) -> NoReturn:
        if isinstance(reason, NotPinned):
            self._driver.fail(
                "untrusted",
                f"its certificate has the fingerprint {reason}, not the pinned one: set fingerprint"
                " (power_fingerprint) if that is right",
            )
        if isinstance(reason, ssl.SSLCertVerificationError):
            self._driver.fail(
                "untrusted",
                f"its certificate is not trusted ({reason.verify_message}): set ca_file or fingerprint"
                " (power_ca_file, power_fingerprint)",
            )
        if isinstance(reason, TimeoutError | socket.timeout):
            reason = f"no answer within {self._driver.timeout:g} s"
        self._driver.fail("unreachable", f"{getattr(reason, 'strerror', None) or reason}: check address and port")
