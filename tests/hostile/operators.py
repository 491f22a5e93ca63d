# SPDX-License-Identifier: Apache-2.0
"""Operators against each other, and those that are none any more; the last table of a stranger's page."""

from __future__ import annotations

import concurrent.futures
import datetime
import http.client
import time
from collections.abc import Callable

from ansible_collections.sled.fleet.tests.hostile.site import OPERATOR, Answer, Json, Site, ask

REFUSED, CHANGES, THREADS = 20_000, 20, 4
LIMIT = 15  # seconds after which a stream has ended


def token_of(site: Site, name: str, **more: str) -> str:
    """The token of a new operator with role read."""
    made: Json = site.operator("PUT", f"/v1/operators/{name}", {"name": name, "role": "read"} | more).json()
    return str(made["token"])


def records(site: Site, operator: str) -> list[Json]:
    """The audit records of an operator."""
    items: list[Json] = site.operator("GET", f"/v1/audit?limit=20000&operator={operator}").json()["items"]
    return items


class Sender:
    """Requests of an operator on one connection, which nginx closes after many."""

    def __init__(self, site: Site, token: str) -> None:
        self._link = site.link(False, OPERATOR)
        self._headers = {"Authorization": f"Bearer {token}"}

    def send(self, method: str, path: str) -> Answer:
        try:
            return ask(self._link, method, path, b"", self._headers)
        except (http.client.HTTPException, OSError):
            self._link.close()
            return ask(self._link, method, path, b"", self._headers)


def flood_the_audit(site: Site) -> str:
    """With role read, sends 20,000 requests that are refused, while another makes 20 changes."""
    token = token_of(site, "flooder")

    def refuse(part: int) -> None:
        sender = Sender(site, token)
        for number in range(REFUSED // THREADS):
            answer = sender.send("DELETE", f"/v1/nodes/{part}-{number}")
            assert answer.status == 403, answer

    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        floods = [pool.submit(refuse, part) for part in range(THREADS)]
        for number in range(CHANGES):
            token_of(site, f"changed-{number}")
            time.sleep(0.1)
        for flood in floods:
            flood.result()
    changes = sum("/v1/operators/changed-" in record["path"] for record in records(site, "admin"))
    counted = [record.get("refused", 0) for record in records(site, "flooder")]
    assert sum(counted) == REFUSED and len(counted) <= 2, counted  # 2: an hour began meanwhile
    return f"{changes} records of the {CHANGES} changes are kept; its own requests are one record per hour"


def follow(site: Site, name: str, end: Callable[[], object], **more: str) -> str:
    """How long the stream of an operator stays open once its right to it has ended."""
    link = site.link(False, OPERATOR)
    link.request("GET", "/v1/events", headers={"Authorization": f"Bearer {token_of(site, name, **more)}"})
    stream = link.getresponse()
    assert stream.status == 200, stream.status
    end()
    begin = time.monotonic()
    while stream.read1(65536):
        assert time.monotonic() - begin < 2 * LIMIT, name
    took = time.monotonic() - begin
    link.close()
    return f"its stream ends within {LIMIT} s" if took <= LIMIT else f"its stream ends after {took:.0f} s"


def follow_after_the_end(site: Site) -> str:
    """Has a stream of events open when its token is taken away."""
    return follow(site, "revoked", lambda: site.operator("DELETE", "/v1/operators/revoked"))


def follow_after_expiry(site: Site) -> str:
    """Has a stream of events open when its token expires."""
    soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=3)
    return follow(site, "expired", lambda: time.sleep(3), expires=soon.isoformat(timespec="seconds"))


ACTS = (flood_the_audit, follow_after_the_end, follow_after_expiry)


def run_operators(site: Site) -> list[str]:
    """What each act leads to, all at the same time."""
    with concurrent.futures.ThreadPoolExecutor(len(ACTS)) as pool:
        return list(pool.map(lambda act: act(site), ACTS))
