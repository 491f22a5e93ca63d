# SPDX-License-Identifier: Apache-2.0
"""HTTP for BMCs: basic or digest, a CA of one's own or a pinned certificate, never through a proxy, sent on to nowhere.

open_url of ansible-core knows neither digest nor pinning; what it is built on, urllib, does.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import http.client
import socket
import ssl
import urllib.error
import urllib.request
from typing import Any, NoReturn

from ansible_collections.sled.fleet.plugins.module_utils.power.driver import Driver

LONGEST = 4 << 20  # bytes of an answer


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


class _PinnedConnection(http.client.HTTPSConnection):
    def __init__(self, pin: str, host: str, **rest: Any) -> None:
        super().__init__(host, **rest)
        self.pin = pin

    def connect(self) -> None:
        super().connect()
        have = hashlib.sha256(self.sock.getpeercert(binary_form=True) or b"").hexdigest()
        if have != self.pin:  # before anything is sent
            self.close()
            raise NotPinned(have)


class _PinnedHandler(urllib.request.HTTPSHandler):
    def __init__(self, pin: str) -> None:
        self._pinned = unverified()
        super().__init__(context=self._pinned)
        self._connection = functools.partial(_PinnedConnection, pin)

    def https_open(self, req: urllib.request.Request) -> Any:
        return self.do_open(self._connection, req, context=self._pinned)


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
        user, secret = driver.options["username"], driver.secret()
        handlers: list[Any] = [urllib.request.ProxyHandler({}), _NoRedirect(), self._trust()]
        self._headers = {}
        if digest:
            words = urllib.request.HTTPPasswordMgrWithDefaultRealm()
            words.add_password(None, base, user, secret)
            handlers.append(_OnceDigest(words))
        else:
            self._headers["Authorization"] = "Basic " + base64.b64encode(f"{user}:{secret}".encode()).decode()
        self._opener = urllib.request.build_opener(*handlers)

    def _trust(self) -> urllib.request.HTTPSHandler:
        options = self._driver.options
        if options.get("fingerprint"):
            return _PinnedHandler(digits(options["fingerprint"]))
        try:
            return urllib.request.HTTPSHandler(context=trusting(options.get("ca_file")))
        except (OSError, ssl.SSLError) as error:
            self._driver.fail("settings", f"ca_file {options.get('ca_file')}: {error.strerror or error}")

    def send(self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> bytes:
        """One request.

        Raises Refusal for an answer that is an error; everything else becomes an error of the driver.
        """
        request = urllib.request.Request(self._base + path, body, {**self._headers, **(headers or {})}, method=method)  # noqa: S310
        try:
            with self._opener.open(request, timeout=self._driver.timeout) as answer:
                return bytes(answer.read(LONGEST))
        except urllib.error.HTTPError as error:
            with error:
                if error.code in (401, 403):
                    self._driver.wrong_credentials(str(error.code))
                raise Refusal(error.code, error.read(LONGEST)) from error
        except urllib.error.URLError as error:
            self._unreachable(error.reason)
        except (http.client.HTTPException, OSError) as error:
            self._unreachable(error)

    def _unreachable(self, reason: Any) -> NoReturn:
        if isinstance(reason, NotPinned):
            self._driver.fail(
                "untrusted",
                f"its certificate has the fingerprint {reason}, not the pinned one: set fingerprint if that is right",
            )
        if isinstance(reason, ssl.SSLCertVerificationError):
            self._driver.fail(
                "untrusted", f"its certificate is not trusted ({reason.verify_message}): set ca_file or fingerprint"
            )
        if isinstance(reason, TimeoutError | socket.timeout):
            reason = f"no answer within {self._driver.timeout:g} s"
        self._driver.fail("unreachable", f"{getattr(reason, 'strerror', None) or reason}: check address and port")
