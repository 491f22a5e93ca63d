# SPDX-License-Identifier: Apache-2.0
"""Binds many nodes as the variables of each say, with one list of what is stored and one request for many changes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.sled.fleet.plugins.module_utils.client import ApiError, Client, Json, SettingsError, SledError
from ansible_collections.sled.fleet.plugins.module_utils.known import hint
from ansible_collections.sled.fleet.plugins.module_utils.nodes import read
from ansible_collections.sled.fleet.plugins.module_utils.objects import compared
from ansible_collections.sled.fleet.plugins.module_utils.words import BINDING_VARIABLES

AT_ONCE = 250  # bindings of one request: their user data has room in it
EMPTY = "an empty disk"
ON_DRIFT = ("warn", "reimage")
ITEM = re.compile(r"body\.items\[(\d+)\]")  # where an error is
TYPES: Json = {
    "allow_unsigned": {"type": "bool"},
    "handover": {"type": "bool"},
    "authorized_keys": {"type": "list", "elements": "str", "no_log": False},
}
RULES: dict[str, Json] = {name: TYPES.get(name, {"type": "str"}) for name in BINDING_VARIABLES}
VALIDATOR = ArgumentSpecValidator(RULES)

Get = Callable[[str], Any]  # the value of a variable of a node; None: it is not defined


def attributes(name: str, get: Get, stored: Json | None) -> Json:
    """The attributes that the variables of a node request.

    What was selected stays until somebody selects again: an image, and of a binding that somebody else declares, such
    as Terraform, every attribute. The command line selects, and the inventory where nothing was selected, or with
    on_drift=reimage. Raises SledError.
    """
    stored = stored or {}
    on_drift = get("on_drift") or "warn"
    if on_drift not in ON_DRIFT:
        raise SettingsError(f"on_drift {on_drift}: {hint(str(on_drift), ON_DRIFT)}")
    declared = is_declared(get, stored)
    selected = (declared or on_drift == "warn") and bool(stored.get("image") or stored.get("capture"))
    found: Json = {}
    for attribute, (variable, replaceable) in BINDING_VARIABLES.items():
        value = get(attribute) if replaceable else None
        if value is None and not declared and not (selected and attribute == "image"):
            value = get(variable)
        if value is not None:
            found[attribute] = value
    if found.get("image") == "":
        raise SledError(f"{name}: the image is empty: name one, or wipe disks with playbooks/wipe.yml")
    if selected and stored.get("capture") and not stored.get("satisfied") and "image" not in found:
        raise SledError(
            f"{name} is to become image {stored['capture']}: run playbooks/capture.yml, or give -e image=NAME"
        )
    if not declared:
        if "authorized_keys" not in found:
            found["authorized_keys"] = get("sled_authorized_keys")
        for attribute, variable in (("image", "node_image"), ("authorized_keys", "sled_authorized_keys")):
            if found.get(attribute) is None and not (selected and attribute == "image"):
                raise SledError(f"{name} has no {attribute}: set {variable}")
    return _validated(name, found)


def is_declared(get: Get, stored: Json) -> bool:
    """Whether somebody else than the inventory declares a binding."""
    return str(stored.get("owner") or "") not in ("", str(get("node_owner") or ""))


def drift(get: Get, before: Json | None, after: Json) -> str:
    """How the image of a node differs from what is declared for it, and what to do; empty: it does not.

    Before and after are its binding, after the change that is requested.
    """
    before, wanted = before or {}, str(get("node_image") or "")
    owner, had = str(before.get("owner") or ""), _image(before)
    if is_declared(get, before):
        terraform = owner.startswith("terraform")
        if _image(after) != had:
            hint = ": terraform plan shows it" if terraform else ""
            return f"bound to {_image(after)} instead of {had} of {owner}, which sees that as drift{hint}"
        if wanted and before.get("image") != wanted:
            hint = ": terraform apply after a change of its configuration" if terraform else ""
            return f"bound to {had} by {owner}, which decides, and not to node_image {wanted}{hint}"
    elif before and had == _image(after) and had != EMPTY and wanted and before.get("image") != wanted:
        return f"bound to {had}, as was selected, and not to node_image {wanted}: -e on_drift=reimage takes that"
    return ""


def _image(binding: Json) -> str:
    if binding.get("capture"):
        return f"the capture of {binding['capture']}"
    return f"image {binding['image']}" if binding.get("image") else EMPTY


def emptied(name: str, get: Get) -> Json:
    """The attributes of a node whose disks are to be wiped."""
    found = {key: get(key) if get(key) is not None else get(f"node_{key}") for key in ("wipe", "wipe_method")}
    return _validated(name, {"image": "", "user_data": "", **{k: v for k, v in found.items() if v is not None}})


def _is_typed(attribute: str, value: Any) -> bool:
    kind = RULES[attribute]["type"]
    if kind == "list":
        return isinstance(value, list) and all(isinstance(element, str) for element in value)
    return isinstance(value, bool if kind == "bool" else str)


def _validated(name: str, found: Json) -> Json:
    if all(_is_typed(attribute, value) for attribute, value in found.items()):
        return found  # spares a deep copy, which takes half a millisecond where values carry their origin
    result = VALIDATOR.validate(found)
    if result.error_messages:
        raise SledError(f"{name}: {'; '.join(result.error_messages)}")
    return {attribute: result.validated_parameters[attribute] for attribute in found}


def ensure_bindings(
    client: Client, nodes: Mapping[str, Get], options: Json, *, dry: bool
) -> tuple[dict[str, Json], dict[str, str]]:
    """Binds the nodes; returns the result of each that was bound, and why the others were not.

    dry: sledd reports what that would do, and stores nothing. Raises SledError if sledd does not answer.
    """
    found = read(client, list(nodes))
    results: dict[str, Json] = {}
    items: dict[str, Json] = {}
    failures: dict[str, str] = {}
    for name, get in nodes.items():
        have = found.get(name, {}).get("binding")
        try:
            want = emptied(name, get) if options["empty"] else attributes(name, get, have)
            terms = {"node": name, "take_over": False, "reimage": options["reimage"]}
            above = options["above"].get(name)
            results[name], spec, again = compared(client, {**want, **terms, "above": above}, have)
        except SledError as error:
            failures[name] = str(error)
            continue
        if spec:
            revision = {"if_revision": int((have or {}).get("revision") or 0)}
            items[name] = {**spec, **revision, "node": name, "reimage": options["reimage"], "keep_user_data": again}
            if get("node_mac"):
                items[name]["if_mac"] = get("node_mac")
    bound, refused = _write(client, items, dry)
    for name, result in results.items():
        result["binding"] = bound.get(name, result["binding"])
        result["generation"] = int(result["binding"].get("generation", 0))
        result["drift"] = drift(nodes[name], found.get(name, {}).get("binding"), result["binding"])
    return {name: one for name, one in results.items() if name not in refused}, failures | refused


def _write(client: Client, items: dict[str, Json], dry: bool) -> tuple[dict[str, Json], dict[str, str]]:
    """Writes bindings, some in one request. Those that sledd refuses keep none of the others from being written."""
    bound: dict[str, Json] = {}
    refused: dict[str, str] = {}
    left = list(items)
    while left:
        names, left = left[:AT_ONCE], left[AT_ONCE:]
        try:
            bound |= zip(names, client.put_bindings([items[name] for name in names], dry), strict=True)
        except ApiError as error:
            found = _faults(error, names)
            refused |= found
            left = [name for name in names if name not in found] + left
    return bound, refused


def _faults(error: ApiError, names: list[str]) -> dict[str, str]:
    """The nodes that an error is about, and why: all if it names none, or if the store failed in between."""
    found: dict[str, str] = {}
    for one in error.errors if error.status < 500 else []:
        item = ITEM.match(str(one.get("location")))
        if item and int(item[1]) < len(names):
            message = str(one.get("message"))
            attribute = str(one["location"])[item.end() + 1 :]
            found[names[int(item[1])]] = (
                f"{attribute} {one.get('value')}: {message}" if message.startswith("expected ") else message
            )
    return found or dict.fromkeys(names, str(error))
