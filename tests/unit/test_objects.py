# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils import user_data
from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.modules import binding, event, image, node
from ansible_collections.sled.fleet.tests.unit.double import Sledd

Run = Callable[..., Json]
MAC = "52:54:00:77:00:01"
IMAGE: dict[str, Any] = {
    "name": "debian-12-v1",
    "digest": "sha256:" + "0" * 64,
    "urls": ["http://10.77.0.1/i"],
    "bytes": 1024,
    "file_bytes": 9,
}


def changes(sledd: Sledd) -> list[str]:
    return [f"{method} {path}" for method, path, _ in sledd.asked if method != "GET" and "dry_run" not in path]


def test_node_is_declared_once(sledd: Sledd, module: Run) -> None:
    options: Json = {
        "name": "n1",
        "mac": "52-54-00-77-00-01",
        "labels": {"rack": "a"},
        "bmc": {"driver": "ipmi", "address": "a"},
        "data_disks": [{"name": "logs", "disk": "serial:D", "mount": "/srv/logs"}],
    }
    checked = module(node, check=True, **options)
    assert checked["changed"]
    assert checked["diff"]["before"] == {}
    assert changes(sledd) == []
    first = module(node, **options)
    assert first["changed"]
    assert first["node"]["mac"] == MAC
    assert first["diff"] == checked["diff"]
    assert sledd.asked[-1][2]["bmc"] == {"driver": "ipmi", "address": "a"}
    assert sledd.asked[-1][2]["data_disks"] == options["data_disks"]
    again = module(node, **options)
    assert not again["changed"]
    assert changes(sledd) == [f"PUT /v1/nodes/{MAC.replace(':', '%3A')}"]


def test_node_keeps_what_is_not_said_and_drops_what_is_empty(sledd: Sledd, module: Run) -> None:
    sledd.node("n1", 1)
    assert module(node, name="n1", labels={"rack": "a"})["node"]["disk"] == "only"
    result = module(node, mac=MAC, name="renamed", disk="")
    assert result["diff"]["before"]["disk"] == "only"
    assert "disk" not in result["diff"]["after"]
    assert sledd.objects["nodes"][MAC]["name"] == "renamed"


def test_further_macs_of_a_node(sledd: Sledd, module: Run) -> None:
    options: Json = {"name": "n1", "mac": MAC, "macs": ["52-54-00-77-00-1A"]}
    assert module(node, **options)["node"]["macs"] == ["52:54:00:77:00:1a"]
    assert not module(node, **options)["changed"]
    assert "macs" not in module(node, name="n1", macs=[])["diff"]["after"]


def test_discovered_node_is_accepted(sledd: Sledd, module: Run) -> None:
    found = sledd.node("", 1, phase="discovered")
    found |= {"declared": False, "revision": 0, "disk": ""}
    assert "set its name" in module(node, mac=MAC)["msg"]
    result = module(node, mac=MAC, name="n1")
    assert result["changed"]
    assert result["node"]["declared"]
    assert result["diff"]["before"] == {}


def test_node_that_is_unknown_needs_a_mac(module: Run) -> None:
    result = module(node, name="n1")
    assert result["failed"]
    assert result["msg"] == "node n1 is not declared yet: set its mac"
    assert "one of the following is required: name, mac" in module(node)["msg"]


def test_node_is_forgotten_once(sledd: Sledd, module: Run) -> None:
    sledd.node("n1", 1)
    assert module(node, name="n1", state="absent", check=True)["changed"]
    assert MAC in sledd.objects["nodes"]
    assert module(node, name="n1", state="absent")["diff"]["after"] == {}
    assert not module(node, name="n1", state="absent")["changed"]


def test_a_change_meanwhile_is_told(sledd: Sledd, module: Run) -> None:
    sledd.node("n1", 1)
    sledd.scenes = [{**sledd.objects["nodes"][MAC], "revision": 0, "declared": False}]
    result = module(node, name="n1", mac=MAC, disk="serial:X")
    assert result["failed"]
    assert result["status"] == 412


@pytest.mark.parametrize("status", [401, 404, 409, 412, 503])
def test_refusals_fail_the_task(sledd: Sledd, module: Run, status: int) -> None:
    sledd.node("n1", 1)
    sledd.refuse = [404, status] if status == 404 else [status]
    result = module(event, node="n1", detail="on") if status == 404 else module(node, name="n1")
    assert result["failed"]
    assert result["status"] == status
    assert "so says the test" in result["msg"]


def test_image_is_registered_once_and_never_changed(sledd: Sledd, module: Run) -> None:
    assert module(image, check=True, **IMAGE)["changed"]
    assert sledd.objects["images"] == {}
    assert module(image, **IMAGE)["image"]["revision"] == 200
    assert not module(image, **IMAGE)["changed"]
    assert not module(image, name=IMAGE["name"])["changed"]
    for check in (False, True):
        result = module(image, check=check, **{**IMAGE, "bytes": 2048})
        assert "registered with another bytes" in result["msg"]
    moved = {**IMAGE, "urls": ["http://mirror/v1"], "labels": {"os": "debian"}}
    assert module(image, **moved)["image"]["urls"] == ["http://mirror/v1"]
    assert not module(image, **moved)["changed"]
    assert "set its digest, urls, bytes, file_bytes" in module(image, name="other")["msg"]
    assert module(image, name=IMAGE["name"], state="absent")["changed"]
    assert not module(image, name=IMAGE["name"], state="absent")["changed"]


def test_an_image_with_a_kernel(sledd: Sledd, module: Run) -> None:
    about = {"kind": "kernel", "kernel": {"release": "6.12.1", "drivers": []}}
    assert module(image, **IMAGE, **about)["image"]["kernel"] == {"release": "6.12.1"}
    assert not module(image, **IMAGE, **about)["changed"]
    about["kernel"] = {"release": "6.12.2"}
    assert "registered with another kernel" in module(image, **IMAGE, **about)["msg"]


def test_an_image_with_a_payload(sledd: Sledd, module: Run) -> None:
    started = {
        "format": "multiboot",
        "arguments": "",
        "real_mode": False,
        "confirm": "console",
        "console": "up",
        "timeout": 60,
    }
    about = {"kind": "kernel", "payload": started}
    stored = module(image, **IMAGE, **about)["image"]["payload"]
    assert stored["console"] == "up"
    assert not module(image, **IMAGE, **about)["changed"]
    about["payload"] = {**started, "console": "down"}
    assert "registered with another payload" in module(image, **IMAGE, **about)["msg"]


def test_an_image_that_is_started_as_a_container(sledd: Sledd, module: Run) -> None:
    about = {"kind": "root", "container": {"command": ["a"], "entrypoint": [], "user": "1000:33"}}
    stored = module(image, **IMAGE, **about)["image"]
    assert stored["container"] == {"command": ["a"], "user": "1000:33"}, "as sledd returns it"
    assert not module(image, **IMAGE, **about)["changed"]
    about["container"] = {"command": ["b"]}
    assert "registered with another container" in module(image, **IMAGE, **about)["msg"]
    assert "registered with another kind" in module(image, name=IMAGE["name"], kind="disk")["msg"]
    module(image, **{**IMAGE, "name": "plain"})
    assert "failed" not in module(image, **{**IMAGE, "name": "plain", "kind": "disk"}), "the default"


def test_binding_counts_generations(sledd: Sledd, module: Run) -> None:
    predicted = module(binding, node="n1", image="v1", check=True)
    assert predicted["generation"] == 1
    assert predicted["binding"]["image"] == "v1"
    assert sledd.objects["bindings"] == {}
    assert module(binding, node="n1", image="v1")["generation"] == 1
    same = module(binding, node="n1")
    assert (same["changed"], same["generation"]) == (False, 1)
    checked = module(binding, node="n1", image="v2", check=True)
    assert checked["diff"] == {"before": {"node": "n1", "image": "v1"}, "after": {"node": "n1", "image": "v2"}}
    assert module(binding, node="n1", image="v2")["generation"] == 2
    again = module(binding, node="n1", reimage=True)
    assert (again["changed"], again["generation"]) == (True, 3)
    assert changes(sledd)[-1] == "POST /v1/bindings/n1/reimage"
    other = module(binding, node="n1", image="v3", reimage=True)
    assert (other["generation"], changes(sledd)[-1]) == (4, "PUT /v1/bindings/n1?reimage=true")
    wiped = module(binding, node="n1", image="")
    assert "image" not in wiped["diff"]["after"]
    assert module(binding, node="n1", state="absent")["changed"]
    assert not module(binding, node="n1", state="absent")["changed"]


def test_binding_without_an_image(module: Run) -> None:
    assert "set image, image '' for a wipe only, or capture" in module(binding, node="n1")["msg"]


def test_a_node_is_either_written_or_read(sledd: Sledd, module: Run) -> None:
    how: Json = {"mode": "delta", "verify": "full", "allow_unsigned": True}
    written = module(binding, node="n1", image="v1", **how)
    assert written["diff"]["after"] == {"node": "n1", "image": "v1", **how}
    assert not module(binding, node="n1", **how)["changed"]
    captured = module(binding, node="n1", capture="golden")
    assert captured["diff"]["after"] == {"node": "n1", "capture": "golden", **how}
    assert not module(binding, node="n1", capture="golden")["changed"]
    again = module(binding, node="n1", image="v1", allow_unsigned=False)
    assert again["diff"]["after"] == {"node": "n1", "image": "v1", "mode": "delta", "verify": "full"}
    assert not module(binding, node="n1", allow_unsigned=False)["changed"]
    assert "mutually exclusive" in module(binding, node="n1", image="v1", capture="golden")["msg"]
    assert module(binding, node="n2", capture="golden")["changed"]


def test_a_binding_keeps_its_owner(sledd: Sledd, module: Run) -> None:
    mine = "terraform:rack-a"
    assert module(binding, node="n1", image="v1", owner=mine)["binding"]["owner"] == mine
    imaged = module(binding, node="n1", image="v2", mode="delta")
    assert imaged["binding"]["owner"] == mine
    assert not module(binding, node="n1", image="v2")["changed"]
    for other in ("", "me"):
        refused = module(binding, node="n1", owner=other)
        assert (refused["status"], refused["failed"]) == (409, True)
        assert f"belongs to {mine}" in refused["msg"]
    taken = module(binding, node="n1", owner="me", take_over=True)
    assert taken["diff"]["after"]["owner"] == "me"
    assert changes(sledd)[-1] == "PUT /v1/bindings/n1?take_over=true"
    assert not module(binding, node="n1", owner="me", take_over=True)["changed"]
    assert "owner" not in module(binding, node="n1", take_over=True)["binding"]


def test_a_binding_of_an_owner_is_not_taken_away_by_chance(sledd: Sledd, module: Run) -> None:
    for how in ({"owner": "terraform:rack-a"}, {"take_over": True}):
        module(binding, node="n1", image="v1", owner="terraform:rack-a")
        refused = module(binding, node="n1", state="absent")
        assert (refused["status"], refused["failed"]) == (409, True)
        assert module(binding, node="n1", state="absent", owner="me")["status"] == 409
        assert sledd.objects["bindings"]
        assert module(binding, node="n1", state="absent", **how)["changed"]
        assert not sledd.objects["bindings"]


def test_binding_by_mac_is_the_same_binding(sledd: Sledd, module: Run) -> None:
    module(binding, node="n1", image="v1")
    sledd.objects["bindings"][MAC] = sledd.objects["bindings"].pop("n1")
    assert not module(binding, node=MAC, image="v1")["changed"]


def test_user_data_is_compared_and_never_shown(sledd: Sledd, module: Run) -> None:
    secret = "#cloud-config\npassword: hunter2"
    first = module(binding, node="n1", image="v1", user_data=secret)
    assert "hunter2" not in str(first)
    assert re.fullmatch("hmac-sha256:[0-9a-f]{64}", first["diff"]["after"]["user_data_sha256"])
    assert hashlib.sha256(secret.encode()).hexdigest() not in str(first), "it could be guessed"
    assert not module(binding, node="n1", image="v1", user_data=secret)["changed"]
    assert not module(binding, node="n1", image="v1")["changed"]
    assert "give user_data again" in module(binding, node="n1", image="v2")["msg"]
    assert module(binding, node="n1", image="v2", user_data=secret)["changed"]
    assert sledd.asked[-1][2]["user_data"] == secret
    sledd.operates = False
    user_data._key.cache_clear()
    assert "user_data needs a token of role operate" in module(binding, node="n1", user_data=secret)["msg"]
    dropped = module(binding, node="n1", user_data="")
    assert dropped["changed"]
    assert "user_data_sha256" not in dropped["diff"]["after"]


def test_check_mode_is_refused_what_the_run_is(sledd: Sledd, module: Run) -> None:
    options = {"name": "n1", "mac": MAC, "disk": "/dev/sda"}
    assert module(node, check=True, **options) == module(node, **options)
    assert module(node, check=True, **options)["msg"] == "disk /dev/sda is no selector (422 T)"
    module(binding, node="n1", image="v1", owner="terraform:rack-a")
    asked = len(sledd.asked)
    for options in ({"state": "absent"}, {"owner": "me"}, {"disk": "/dev/sda"}):
        refused = module(binding, node="n1", check=True, **options)
        assert refused["failed"], options
        assert refused["msg"] == module(binding, node="n1", **options)["msg"]
    assert module(binding, node="n1", reimage=True, check=True)["generation"] == 2
    assert {path for method, path, _ in sledd.asked[asked:] if "dry_run" in path} == {
        "/v1/bindings/n1?dry_run=true",
        "/v1/bindings/n1/reimage?dry_run=true",
    }
    assert sledd.objects["bindings"]["n1"]["generation"] == 1


@pytest.mark.parametrize(("said", "sent"), [("on", "on"), (True, "on"), (False, "off"), ("cycle", "cycle")])
def test_event_of_power(sledd: Sledd, module: Run, said: Any, sent: str) -> None:
    sledd.node("n1", 1)
    assert module(event, node="n1", detail=said)["changed"]
    assert sledd.asked[-1] == ("POST", "/v1/nodes/n1/events", {"kind": "power", "detail": sent})


def test_event_in_check_mode(sledd: Sledd, module: Run) -> None:
    sledd.node("n1", 1)
    assert module(event, node="n1", detail="on", check=True)["diff"]["after"] == {"kind": "power", "detail": "on"}
    assert changes(sledd) == []
    assert module(event, node="n2", detail="on", check=True)["msg"] == "node n2 does not exist"


def test_settings_that_cannot_work(sledd: Sledd, module: Run) -> None:
    assert "in clear" in module(node, name="n1", server="http://10.77.0.1")["msg"]
    assert "No such file" in module(node, name="n1", token=None, token_file="/none")["msg"]


def test_a_binding_is_raised_once_for_a_repeated_caller(sledd: Sledd, module: Run) -> None:
    module(binding, node="n1", image="v1")
    raised = module(binding, node="n1", reimage=True, above=1)
    assert (raised["changed"], raised["generation"]) == (True, 2)
    again = module(binding, node="n1", reimage=True, above=1)
    assert (again["changed"], again["generation"]) == (False, 2)
    assert module(binding, node="n1", image="v2", reimage=True, above=1)["generation"] == 3


def test_event_of_a_supervisor_has_the_last_words(sledd: Sledd, module: Run) -> None:
    sledd.node("n1", 1)
    sledd.console = "x" * 20000 + "panic"
    assert module(event, node="n1", kind="lost", detail="y" * 600, console=True)["changed"]
    sent = sledd.asked[-1][2]
    assert (sent["kind"], len(sent["detail"]), len(sent["log"])) == ("lost", 512, 16384)
    assert sent["log"].endswith("panic")
    sledd.console = ""
    module(event, node="n1", kind="fallback", detail="late", console=True)
    assert sledd.asked[-1][2] == {"kind": "fallback", "detail": "late"}
