# SPDX-License-Identifier: Apache-2.0
"""Bindings of many nodes, by the variables of each."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.action.bindings import elsewhere, report
from ansible_collections.sled.fleet.plugins.module_utils.bulk import (
    _faults,
    attributes,
    drift,
    emptied,
    ensure_bindings,
)
from ansible_collections.sled.fleet.plugins.module_utils.client import (
    ApiError,
    Client,
    Json,
    SettingsError,
    SledError,
    Unreachable,
)
from ansible_collections.sled.fleet.plugins.plugin_utils.variables import Variables
from ansible_collections.sled.fleet.tests.unit.double import Sledd

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
SITE: Json = {"node_image": "v1", "sled_authorized_keys": [KEY]}
TERMS: Json = {"empty": False, "reimage": False, "above": {}}


def of(stored: Json | None = None, **variables: Any) -> Json:
    return attributes("n1", {**SITE, **variables}.get, stored)


def test_the_inventory_and_the_command_line() -> None:
    assert of() == {"image": "v1", "authorized_keys": [KEY]}
    found = of(node_mode="delta", mode="full", node_binding_disk="serial:A", disk="sda", allow_unsigned="true")
    assert found == {
        "image": "v1",
        "disk": "serial:A",
        "mode": "full",
        "allow_unsigned": True,
        "authorized_keys": [KEY],
    }, "disk is not for the command line, as inventories may use that name"
    assert of(image="v2", node_authorized_keys=[])["authorized_keys"] == [], "empty is a value"


def test_what_another_owner_declares_is_kept() -> None:
    stored = {"owner": "terraform:x", "image": "v9"}
    assert of(stored, node_mode="delta", boot="kexec") == {"boot": "kexec"}
    assert of(stored, node_owner="terraform:x", node_mode="delta")["mode"] == "delta", "the inventory is that owner"
    captured = {"owner": "terraform:x", "capture": "golden"}
    with pytest.raises(SledError, match=r"n1 is to become image golden: run playbooks/capture.yml, or give -e image"):
        of(captured)
    assert of(captured, image="v2") == {"image": "v2"}
    with pytest.raises(SledError, match="is to become image golden"):
        of({"capture": "golden"})
    assert "image" not in of({"capture": "golden", "satisfied": True}), "it was captured, and runs its system again"


def test_the_image_that_was_selected_stays() -> None:
    friday = {"image": "v2"}
    assert of(friday, node_mode="delta") == {"mode": "delta", "authorized_keys": [KEY]}
    assert attributes("n1", {"sled_authorized_keys": [KEY]}.get, friday) == {"authorized_keys": [KEY]}
    assert of(friday, image="v3")["image"] == "v3"
    assert of(friday, on_drift="reimage")["image"] == "v1"
    assert of({"capture": "golden"}, on_drift="reimage")["image"] == "v1"
    assert of({"owner": ""})["image"] == "v1", "it was wiped, and no image is lost"
    declared = {"owner": "terraform:x", "image": "v9"}
    assert "image" not in of(declared, on_drift="reimage"), "the inventory does not decide there"
    with pytest.raises(SettingsError, match=r"on_drift reimge: did you mean reimage\?"):
        of(friday, on_drift="reimge")


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        (None, {"image": "v1"}, ""),
        ({"image": "v1"}, {"image": "v1"}, ""),
        ({"image": "v0"}, {"image": "v1"}, ""),
        ({}, {}, ""),
        (
            {"image": "v2"},
            {"image": "v2"},
            "bound to image v2, as was selected, and not to node_image v1: -e on_drift=reimage takes that",
        ),
        (
            {"capture": "golden"},
            {"capture": "golden"},
            "bound to the capture of golden, as was selected, and not to node_image v1: -e on_drift=reimage takes that",
        ),
        (
            {"image": "v9", "owner": "terraform:x"},
            {"image": "v9"},
            "bound to image v9 by terraform:x, which decides, and not to node_image v1:"
            " terraform apply after a change of its configuration",
        ),
        (
            {"image": "v9", "owner": "x"},
            {},
            "bound to an empty disk instead of image v9 of x, which sees that as drift",
        ),
        (
            {"image": "v9", "owner": "terraform:x"},
            {"image": "v2"},
            "bound to image v2 instead of image v9 of terraform:x, which sees that as drift: terraform plan shows it",
        ),
    ],
)
def test_drift_has_a_hint(before: Json | None, after: Json, text: str) -> None:
    assert drift(SITE.get, before, after) == text


@pytest.mark.parametrize(
    ("missing", "text"),
    [("node_image", "n1 has no image: set node_image"), ("sled_authorized_keys", "set sled_authorized_keys")],
)
def test_what_is_missing_is_named(missing: str, text: str) -> None:
    with pytest.raises(SledError, match=text):
        attributes("n1", {name: value for name, value in SITE.items() if name != missing}.get, None)


def test_a_type_that_cannot_be_meant() -> None:
    with pytest.raises(SledError, match=r"n1: .*allow_unsigned"):
        of(allow_unsigned="perhaps")


def test_types_of_variables_that_are_templates() -> None:
    found = of(node_image=12, sled_authorized_keys=KEY, allow_unsigned=True)
    assert found == {"image": "12", "authorized_keys": [KEY], "allow_unsigned": True}
    assert of(sled_authorized_keys=[KEY, 5])["authorized_keys"] == [KEY, "5"]


def test_empty_disks() -> None:
    assert emptied("n1", {"node_image": "v1"}.get) == {"image": "", "user_data": ""}
    assert emptied("n1", {"node_wipe": "clear"}.get)["wipe"] == "clear"
    assert emptied("n1", {"node_wipe": "clear", "wipe": "signatures"}.get)["wipe"] == "signatures"
    purged = {"node_wipe": "purge", "node_wipe_method": "ata-sanitize-block"}
    assert emptied("n1", purged.get)["wipe_method"] == "ata-sanitize-block"


def puts(sledd: Sledd) -> list[tuple[str, Json]]:
    return [(path, body) for method, path, body in sledd.asked if method in ("PUT", "POST")]


def test_only_what_differs_is_written(sledd: Sledd, client: Client) -> None:
    for number in range(1, 7):
        sledd.node(f"n{number}", number)
        bound = {"node": f"n{number}", "mac": f"52:54:00:77:00:{number:02x}", "generation": 4, "revision": 7}
        sledd.objects["bindings"][f"n{number}"] = {
            **bound,
            "image": "v1",
            "authorized_keys": [KEY],
            "satisfied": True,
        }
    sledd.objects["bindings"]["n2"]["authorized_keys"] = []
    sledd.objects["bindings"]["n4"]["image"] = sledd.objects["bindings"]["n5"]["image"] = "v2"
    del sledd.objects["bindings"]["n3"]
    nodes: dict[str, Any] = {f"n{number}": SITE.get for number in range(1, 7)} | {"n6": {}.get}
    bound_now, failures = ensure_bindings(client, nodes, TERMS, dry=False)
    result = report(bound_now, failures)
    ((path, body),) = puts(sledd)
    assert (path, [item["node"] for item in body["items"]]) == ("/v1/bindings", ["n2", "n3"])
    assert (result["changed"], result["failed"], result["to_do"]) == (True, True, ["n2", "n3"])
    assert failures == {"n6": "n6 has no authorized_keys: set sled_authorized_keys"}
    assert result["drift"] == [
        "n4, n5 are bound to image v2, as was selected, and not to node_image v1: -e on_drift=reimage takes that"
    ]
    assert [one["before_header"] for one in result["diff"]] == ["n2", "n3"]
    sledd.asked.clear()
    assert not report(*ensure_bindings(client, {"n1": SITE.get, "n2": SITE.get}, TERMS, dry=False))["changed"]
    assert puts(sledd) == []


def test_a_rollout_raises_each_generation_once(sledd: Sledd, client: Client) -> None:
    for number in (1, 2):
        sledd.node(f"n{number}", number)
        stored = {"node": f"n{number}", "mac": f"52:54:00:77:00:{number:02x}", "image": "v1", "satisfied": True}
        sledd.objects["bindings"][f"n{number}"] = {
            **stored,
            "authorized_keys": [KEY],
            "generation": 4 + number,
            "revision": number,
        }
    terms = {"empty": False, "reimage": True, "above": {"n1": 5, "n2": 5}}
    bound, failures = ensure_bindings(client, {"n1": SITE.get, "n2": SITE.get}, terms, dry=False)
    assert not failures
    ((_, body),) = puts(sledd)
    (item,) = body["items"]
    assert (item["node"], item["reimage"], item["keep_user_data"]) == ("n1", True, True), "that of n2 was raised before"
    assert report(bound, {})["to_do"] == ["n1"] or not bound["n1"]["binding"]["satisfied"]


def test_who_runs_from_memory_keeps_its_disk() -> None:
    """A handover wipes all the same, and so does what sledd says it wipes."""
    bindings: dict[str, Any] = {
        "n1": {"memory": True, "outlook": {"memory": True}},
        "n2": {"memory": True, "hands_over": True},
        "n3": {"memory": True, "outlook": {"wipes": "n3: all disks"}},
        "n4": {},
    }
    bound = {
        name: {"binding": binding, "changed": False, "generation": 1, "drift": ""} for name, binding in bindings.items()
    }
    result = report(bound, {})
    assert (result["memory"], result["wipes"]) == (["n1"], ["n3: all disks"])


def test_a_dry_run_is_asked_for(sledd: Sledd, client: Client) -> None:
    sledd.node("n1", 1)
    ensure_bindings(client, {"n1": SITE.get}, TERMS, dry=True)
    ensure_bindings(client, {"n1": SITE.get}, {**TERMS, "reimage": True}, dry=True)
    assert [path for path, _ in puts(sledd)] == ["/v1/bindings?dry_run=true"] * 2
    assert sledd.objects["bindings"] == {}


def test_what_is_refused_of_some_keeps_none_of_the_others_from_being_bound(sledd: Sledd, client: Client) -> None:
    for number in range(1, 5):
        sledd.node(f"n{number}", number)
    bad = {**SITE, "node_image": "bad"}.get
    bound, failures = ensure_bindings(client, {"n1": SITE.get, "n2": bad, "n3": SITE.get, "n4": bad}, TERMS, dry=False)
    assert sorted(bound) == ["n1", "n3"] and bound["n3"]["generation"] == 1
    assert failures == dict.fromkeys(("n2", "n4"), "image bad does not exist")


def test_a_store_that_fails_is_no_fault_of_one_item(sledd: Sledd, client: Client) -> None:
    for number in (1, 2):
        sledd.node(f"n{number}", number)
    nodes = {"n1": SITE.get, "n2": SITE.get}
    error = ApiError("POST", 503, {"detail": "0 of 2", "errors": [{"location": "body.items[1].node", "message": "m"}]})
    assert _faults(error, list(nodes)) == dict.fromkeys(nodes, str(error))


def test_a_sledd_that_is_away_is_no_failure_of_a_node(sledd: Sledd, client: Client) -> None:
    sledd.stop()
    with pytest.raises(Unreachable):
        ensure_bindings(client, {"n1": SITE.get}, TERMS, dry=False)


def test_variables_of_this_host_and_of_others() -> None:
    task_vars = {"inventory_hostname": "n1", "a": "{{ b }}", "hostvars": {"n2": {"a": "theirs"}}}
    template = {"{{ b }}": "ours"}.get
    assert Variables("n1", task_vars, template)("a") == "ours"
    assert Variables("n2", task_vars, template)("a") == "theirs"
    assert Variables("n2", task_vars, template)("node_image") is None
    with pytest.raises(SledError, match="n3 is not a host of the inventory"):
        Variables("n3", task_vars, template)


def test_attributes_of_a_binding_are_variables() -> None:
    assert elsewhere(["server", "nodes", "empty", "nodse"]) == ""
    text = elsewhere(["nodes", "image", "disk"])
    assert text.startswith("image, disk: no option of sled.fleet.bindings")
    for name in ("node_image", "node_binding_disk", "sled.fleet.binding for one node", "sled_bindings of Terraform"):
        assert name in text
