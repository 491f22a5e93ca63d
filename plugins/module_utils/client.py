# SPDX-License-Identifier: Apache-2.0
"""Client of sledd's operator API (v1). Needs nothing but ansible-core's own HTTP functions, and no running Ansible."""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import json
import re
import urllib.error
import urllib.parse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible.module_utils.urls import ConnectionError as UrlsError
from ansible.module_utils.urls import open_url
from ansible_collections.sled.fleet.plugins.module_utils import following
from ansible_collections.sled.fleet.plugins.module_utils.connections import Connections, is_direct, maker

Json = dict[str, Any]

PAGE = 2000  # items that one list call asks for
LONGEST_ANSWER, LONGEST_PART = 64 << 20, 256 << 20  # bytes; of a file, so that the index of the largest image fits
PLAIN = (b"an HTTP request to an HTTPS server", b"plain HTTP request was sent to HTTPS port")  # of Go and nginx
CAPTURED = re.compile(r"/captured/([0-9a-f-]+\.raw\.zst)\Z")
SHORTEST_WINDOW, LONGEST_WINDOW = 10, 86400  # seconds: contract/admission.md


class SledError(Exception):
    """Anything that a module reports and ends with."""


class SettingsError(SledError):
    """The connection options cannot work as they stand."""


class Unreachable(SledError):
    """Nobody answered, or what answered cannot be trusted. What was asked may or may not have happened."""


class ApiError(SledError):
    """sledd's refusal (application/problem+json)."""

    def __init__(self, request: str, status: int, problem: Json) -> None:
        self.status = status
        self.title = str(problem.get("title") or http.client.responses.get(status, ""))
        self.detail = str(problem.get("detail") or "")
        self.errors: list[Json] = [e for e in problem.get("errors") or [] if isinstance(e, dict)]
        details = [e for e in self.errors if len(self.errors) > 1 or e.get("message") != self.detail]
        reasons = "; ".join(": ".join(str(e[key]) for key in ("location", "message") if e.get(key)) for e in details)
        text = ": ".join(part for part in (self.detail or request, reasons) if part)
        super().__init__(f"{text} ({status} {self.title})")


def _loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def check_server(server: str) -> str:
    """Returns the base URL, or raises an error that states what is wrong with it."""
    parts = urllib.parse.urlsplit(server)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise SettingsError(f"server {server!r}: want https://ADDRESS")
    if parts.scheme == "http" and not _loopback(parts.hostname):
        raise SettingsError(f"server {server!r}: the token would be sent in clear text: use https://{parts.netloc}")
    return server.rstrip("/")


def check_ca(ca_file: str | None) -> str | None:
    """Returns the name of the file, or raises an error that names it if it cannot be what it should."""
    try:
        found = Path(ca_file).read_bytes() if ca_file else b"CERTIFICATE-----"
    except OSError as error:
        raise SettingsError(f"ca_file {ca_file}: {error.strerror}") from error
    if b"CERTIFICATE-----" not in found:
        raise SettingsError(f"ca_file {ca_file} holds no certificate: want a PEM file")
    return ca_file


def dry_run(dry: bool) -> Json:
    """The query of a change that sledd only checks and answers."""
    return {"dry_run": "true"} if dry else {}


class Client:
    """Speaks to one sledd. Every call ends within the timeout (seconds) and fails with ApiError or Unreachable."""

    def __init__(self, server: str, token: str, ca_file: str | None = None, timeout: float = 30.0) -> None:
        self.server = check_server(server)
        self._token = token
        self._ca_file, self._timeout = check_ca(ca_file), timeout
        self._direct = is_direct(self.server)
        self._connections = Connections(maker(self.server, ca_file, timeout), urllib.parse.urlsplit(self.server).path)

    def close(self) -> None:
        """Closes the connections that nobody uses now; a later call opens one again."""
        self._connections.close()

    def find(self, collection: str, name: str) -> Json | None:
        """Reads one object; None only when sledd itself answers that it does not exist."""
        try:
            return self._json("GET", self._path(collection, name))
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def put(
        self, collection: str, name: str, spec: Mapping[str, Any], revision: int, terms: Json | None = None
    ) -> Json:
        """Writes one object, if what is stored still has this revision; 0: if nothing is stored.

        Terms are the query.
        """
        condition = {"If-Match": f'"{revision}"'} if revision else {"If-None-Match": "*"}
        return self._json("PUT", self._path(collection, name), terms, spec, condition)

    def delete(self, collection: str, name: str, revision: int, terms: Json | None = None) -> None:
        """Deletes one object, if what is stored still has this revision; 0: whatever it has. Terms are the query."""
        condition = {"If-Match": f'"{revision}"'} if revision else {}
        self._send("DELETE", self._path(collection, name), terms, headers=condition)

    def store(self) -> Json:
        """The identity of the fleet; role operate gets its key of hashes."""
        return self._json("GET", "/v1/store")

    def reimage(self, node: str, revision: int, dry: bool = False) -> Json:
        """Raises the generation of the binding, if it still has this revision; dry: only as if."""
        condition = {"If-Match": f'"{revision}"'}
        return self._json("POST", self._path("bindings", node, "reimage"), dry_run(dry), headers=condition)

    def boot(self, node: str) -> Json:
        """What a running node is to be started with, to come into the Sled system. The ticket is a secret."""
        return self._json("POST", self._path("nodes", node, "boot"))

    def claims(self) -> list[Json]:
        """Lists the nodes that a machine claims to be and is not admitted as."""
        return list(self._json("GET", "/v1/claims").get("items") or [])

    def admission(self, node: str) -> Json:
        """Reads who claims to be a node, and who is admitted."""
        return self._json("GET", self._path("nodes", node, "admission"))

    def decide(self, node: str, act: str, **spec: Any) -> Json:
        """Applies an act of an operator (expect, admit, refuse, revoke) to the admission of a node."""
        return self._json("POST", self._path("nodes", node, act), body=spec or None)

    def expect(self, node: str, by: str, seconds: int, **also: Any) -> Json:
        """Makes a boot of a node expected, unless it boots its disk; also: what else is recorded, as the API has it."""
        limited = min(max(seconds, SHORTEST_WINDOW), LONGEST_WINDOW)
        return self.decide(node, "expect", by=by, seconds=limited, sled_only=True, **also)

    def nodes(
        self, labels: list[str] | None = None, phase: str | None = None, image: str | None = None
    ) -> Iterator[Json]:
        """Lists nodes, page by page."""
        yield from self.pages("/v1/nodes", {"label": labels or [], "phase": phase or [], "image": image or []})

    def put_bindings(self, items: list[Json], dry: bool) -> list[Json]:
        """Binds nodes, all or none; dry: only as if. Returns the bindings in that order."""
        return list(self._json("POST", "/v1/bindings", dry_run(dry), {"items": items})["items"])

    def pages(self, path: str, terms: Json) -> Iterator[Json]:
        """Lists objects, page by page. Terms are the query."""
        query = {**terms, "limit": PAGE}
        while True:
            page = self._json("GET", path, query)
            yield from page.get("items") or []
            if not page.get("next"):
                return
            query["after"] = page["next"]

    @contextlib.contextmanager
    def events(self, after: int = 0) -> Iterator[Any]:
        """Opens the stream of events of all nodes, after the event with this id; 0: from now on. Returns the response.

        It ends with Unreachable when it is silent for longer than the timeout: sledd sends a comment every 10 s.
        """
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": str(after)} if after else {})}
        with self._open(self.server + "/v1/events", "GET", None, headers, private=True) as response:
            yield response

    def post_event(self, node: str, kind: str, detail: str, log: str = "") -> None:
        """Adds an event to a node's; log is its last words."""
        body = {"kind": kind, "detail": detail, **({"log": log} if log else {})}
        self._send("POST", self._path("nodes", node, "events"), body=body)

    def console(self, node: str) -> str:
        """Reads the end of the node's console; empty when nobody keeps it."""
        return self._text(self._path("nodes", node, "console"))

    def put_rescue(self, node: str, keys: list[str], dry: bool) -> Json:
        """Puts a node under rescue, or changes who may log in; returns the node. dry: only as if."""
        return self._json("PUT", self._path("nodes", node, "rescue"), dry_run(dry), {"authorized_keys": keys})

    def delete_rescue(self, node: str, dry: bool) -> None:
        """Ends a rescue; dry: only as if."""
        self._send("DELETE", self._path("nodes", node, "rescue"), dry_run(dry))

    def log(self, node: str) -> str:
        """Reads the log of the step that failed last; empty when there is none."""
        return self._text(self._path("nodes", node, "log"))

    def rollouts(self) -> list[Json]:
        """Lists the newest rollouts, newest first, without their nodes."""
        return list(self._json("GET", "/v1/rollouts").get("items") or [])

    def start_rollout(self, spec: Json, kind: str, dry: bool = False) -> Json:
        """Starts a rollout, or resumes the unfinished one; dry: only as if."""
        return self._json("POST", "/v1/rollouts", {"kind": kind, **dry_run(dry)}, spec)

    def put_runs(self, rollout: str, items: list[Json]) -> Json:
        """Reports the states of nodes of a rollout; returns the rollout, and of each the run or why it was refused."""
        return self._json("PUT", self._path("rollouts", rollout, "runs"), body={"items": items})

    def part(self, url: str, wanted: str) -> tuple[int, bytes]:
        """Reads a range of a published file. Returns the size of the file, and the bytes.

        A captured image that is not signed yet is private: the server of the API has it, for the token. No other
        server gets the token.
        """
        file = CAPTURED.search(urllib.parse.urlsplit(url).path)
        if file:
            try:
                return self._part(self._path("captured", file[1]), wanted, private=True)
            except ApiError as error:
                if error.status not in (204, 404):  # sledd has no such files, only a web server in front of it
                    raise
        return self._part(url, wanted, private=False)

    def _part(self, address: str, wanted: str, *, private: bool) -> tuple[int, bytes]:
        headers = {"Range": f"bytes={wanted}", "Accept-Encoding": "identity"}
        url = self.server + address if private else address
        with self._open(url, "GET", None, headers, private=private) as response:
            if response.status != 206:
                raise ApiError(
                    f"GET {url}", response.status, {"detail": f"{url}: the response is not a part of the file"}
                )
            size = re.fullmatch(r"bytes [0-9]+-[0-9]+/([0-9]+)", response.headers.get("Content-Range", ""))
            if not size:
                raise SledError(f"{url}: the response does not state the size of the file")
            return int(size[1]), bytes(response.read(LONGEST_PART))

    def _text(self, path: str) -> str:
        """Reads text; empty when there is none."""
        try:
            return self._send("GET", path, headers={"Accept": "text/plain"}).decode(errors="replace")
        except ApiError as error:
            if error.status == 404:
                return ""
            raise

    @staticmethod
    def _path(*segments: str) -> str:
        for segment in segments:
            if segment in ("", ".", ".."):
                raise SettingsError(f"{segment!r} is not a name in {segments[0]}")
        return "/v1/" + "/".join(urllib.parse.quote(segment, safe="") for segment in segments)

    def _json(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Json:
        answer = self._send(method, path, query, body, headers)
        try:
            decoded = json.loads(answer)
        except ValueError as error:
            raise SledError(f"{method} {path}: the response is not JSON: {error}") from error
        if not isinstance(decoded, dict):
            raise SledError(f"{method} {path}: the response is not a JSON object")
        return decoded

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> bytes:
        address = self.server + path
        if query:
            address += "?" + urllib.parse.urlencode(query, doseq=True)
        sent = {"Accept": "application/json, application/problem+json", **following.headers()}
        if body is not None:
            sent["Content-Type"] = "application/json"
        sent.update(headers or {})
        with self._open(address, method, body, sent, private=True) as response:
            answer = bytes(response.read(LONGEST_ANSWER))
            if response.length:
                raise http.client.IncompleteRead(answer, response.length)
            return answer

    @contextlib.contextmanager
    def _open(
        self, address: str, method: str, body: Any, headers: Mapping[str, str], *, private: bool
    ) -> Iterator[Any]:
        """A response; private: with the token."""
        sent = {**headers, **({"Authorization": f"Bearer {self._token}"} if private else {})}
        data = None if body is None else json.dumps(body).encode()
        path = address.removeprefix(self.server)
        place = "{0.scheme}://{0.netloc}".format(urllib.parse.urlsplit(address))
        try:
            if self._direct and path.startswith("/"):
                with self._connections.send(method, path, data, {**sent, "User-Agent": "sled.fleet"}) as response:
                    if response.status >= 300:
                        raise _refusal(f"{method} {path}", response.status, response, place)
                    yield response
            else:
                with open_url(
                    address,
                    method=method,
                    data=data,
                    headers=sent,
                    ca_path=self._ca_file,
                    timeout=self._timeout,
                    http_agent="sled.fleet",
                    follow_redirects="none",
                    use_netrc=False,
                ) as response:
                    yield response
        except urllib.error.HTTPError as error:
            raise _refusal(f"{method} {path}", error.code, error, place) from error
        except urllib.error.URLError as error:
            raise Unreachable(f"{place} cannot be reached: {error.reason}") from error
        except (UrlsError, http.client.HTTPException, OSError) as error:
            raise Unreachable(f"{place} cannot be reached: {error}") from error


def _refusal(request: str, status: int, answer: Any, place: str) -> ApiError:
    """Reads the problem, or makes one of an answer that a proxy wrote."""
    problem, body = dict[str, Any](detail="the answer is no problem+json"), b""
    with contextlib.suppress(ValueError, OSError, http.client.HTTPException):
        body = answer.read(4 << 20)
        decoded = json.loads(body)
        problem = decoded if isinstance(decoded, dict) else {}
    if status // 100 == 3 and answer.headers.get("Location"):
        problem = {"detail": f"sent on to {answer.headers['Location']}: give that address as the server"}
    if any(text in body for text in PLAIN):
        problem = {"detail": f"{place} speaks TLS: give {place.replace('http:', 'https:', 1)} as the server"}
    return ApiError(request, status, problem)
