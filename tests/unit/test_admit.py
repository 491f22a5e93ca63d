# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.modules import admit
from ansible_collections.sled.fleet.tests.unit.double import Sledd

Run = Callable[..., Json]
CODE = "K7QF-2M9D"


def claim(code: str = CODE, **more: Any) -> Json:
    return {"code": code, "address": "10.77.0.23", "link": "same", "evidence": [], **more}


def admission(*claims: Json, incumbent: Json | None = None, required: str = "expected") -> Json:
    state = "admitted" if incumbent else "waiting" if claims else "none"
    found: Json = {"mac": "52:54:00:77:00:01", "name": "n1", "state": state, "required": required}
    return {**found, "claims": list(claims), **({"incumbent": incumbent} if incumbent else {})}


def says(sledd: Sledd, found: Json) -> None:
    """Every answer is this one."""
    sledd.asked.clear()
    sledd.raw = json.dumps(found).encode()


def acts(sledd: Sledd) -> list[tuple[str, Json]]:
    return [(path, body) for method, path, body in sledd.asked if method == "POST"]


def test_it_lists(sledd: Sledd, module: Run) -> None:
    says(sledd, {"items": [admission(claim())]})
    result = module(admit)
    assert not result["changed"] and result["admissions"][0]["claims"][0]["code"] == CODE
    assert sledd.asked == [("GET", "/v1/claims", {})]
    says(sledd, admission())
    assert module(admit, node="n1")["admissions"] == [admission()]
    assert sledd.asked == [("GET", "/v1/nodes/n1/admission", {})]


def test_it_admits_a_code(sledd: Sledd, module: Run) -> None:
    says(sledd, admission(claim()))
    assert module(admit, node="n1", state="admitted", code=CODE, check=True)["changed"]
    assert not acts(sledd)
    assert module(admit, node="n1", state="admitted", code=CODE)["changed"]
    assert acts(sledd) == [("/v1/nodes/n1/admit", {"code": CODE, "unseen": False})]


def test_a_code_that_is_admitted_already(sledd: Sledd, module: Run) -> None:
    says(sledd, admission(incumbent=claim(evidence=["person"])))
    assert not module(admit, node="n1", state="admitted", code="k7qf2m9d")["changed"]
    assert not acts(sledd)
    says(sledd, admission(incumbent=claim()))  # in a window: now it is proven
    assert module(admit, node="n1", state="admitted", code=CODE)["changed"]
    assert acts(sledd)


def test_it_admits_the_only_claim(sledd: Sledd, module: Run) -> None:
    says(sledd, admission(claim()))
    result = module(admit, node="n1", state="admitted")
    assert result["changed"] and not result["waits"]
    assert acts(sledd) == [("/v1/nodes/n1/admit", {"code": CODE, "unseen": True})]


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (admission(), ""),
        (admission(claim(), incumbent=claim("0000-0000")), ""),  # it would end the one that is admitted
        (
            admission(claim(), claim("0000-0000")),
            "2 machines claim to be n1, so read the code on its console: K7QF-2M9D",
        ),
        (admission(claim(), required="proven"), "level proven is required, so read the code on the console of n1"),
        (admission(claim(link="other")), "the address of the claim belongs to another MAC than that of n1"),
        (admission({**claim(), "address": ""}, required="attested"), "K7QF-2M9D from an unknown address"),
    ],
)
def test_it_admits_nobody_else(sledd: Sledd, module: Run, found: Json, why: str) -> None:
    says(sledd, found)
    result = module(admit, node="n1", state="admitted")
    assert not result["changed"] and why in result["waits"] and bool(why) == bool(result["waits"]), result
    assert not acts(sledd)


def test_it_expects_a_boot(sledd: Sledd, module: Run) -> None:
    says(sledd, admission())
    assert not module(admit, node="n1", state="expected", by="manual", seconds=1800, sled_only=True)["changed"]
    assert acts(sledd) == [("/v1/nodes/n1/expect", {"by": "manual", "seconds": 1800, "sled_only": True})]
    says(sledd, admission())
    assert module(admit, node="n1", state="expected", check=True)["changed"]
    for seconds in (9, 86401):
        assert (
            f"seconds {seconds}: want 10 to 86400" in module(admit, node="n1", state="expected", seconds=seconds)["msg"]
        )
    assert not acts(sledd)


def test_it_refuses_and_revokes_once(sledd: Sledd, module: Run) -> None:
    says(sledd, admission(claim()))
    assert not module(admit, node="n1", state="revoked")["changed"]
    assert not module(admit, node="n1", state="refused", code="0000-0000")["changed"]
    assert module(admit, node="n1", state="refused", code=CODE.lower(), check=True)["changed"]
    assert not acts(sledd)
    assert module(admit, node="n1", state="refused", code=CODE.lower())["changed"]
    says(sledd, admission(incumbent=claim()))
    assert module(admit, node="n1", state="revoked")["changed"]
    assert acts(sledd) == [("/v1/nodes/n1/revoke", {})]


def test_it_needs_to_know_which(sledd: Sledd, module: Run) -> None:
    assert "node" in module(admit, state="admitted")["msg"]
    assert "code" in module(admit, node="n1", state="refused")["msg"]
    sledd.refuse = [404]
    assert module(admit, node="n1")["status"] == 404
    assert not acts(sledd)
