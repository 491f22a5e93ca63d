# SPDX-License-Identifier: Apache-2.0
"""Binds many nodes as the variables of each say, with one list of what is stored and one request for each change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.objects import bind
from ansible_collections.sled.fleet.plugins.module_utils.words import BINDING_VARIABLES

AT_ONCE = 8  # requests to sledd
TYPES: Json = {
    "allow_unsigned": {"type": "bool"},
    "authorized_keys": {"type": "list", "elements": "str", "no_log": False},
}
VALIDATOR = ArgumentSpecValidator({name: TYPES.get(name, {"type": "str"}) for name in BINDING_VARIABLES})

Get = Callable[[str], Any]  # the value of a variable of a node; None: it is not defined


def attributes(name: str, get: Get, stored: Json | None) -> Json:
    """The attributes that the variables of a node request.

    A binding that somebody else declares, such as Terraform, keeps its attributes, except for those of the command
    line. Raises SledError.
    """
    stored = stored or {}
    declared = str(stored.get("owner") or "") not in ("", str(get("node_owner") or ""))
    found: Json = {}
    for attribute, (variable, replaceable) in BINDING_VARIABLES.items():
        value = get(attribute) if replaceable else None
        if value is None and not declared:
            value = get(variable)
        if value is not None:
            found[attribute] = value
    if declared and stored.get("capture") and "image" not in found:
        raise SledError(
            f"{name} is to become image {stored['capture']}: run playbooks/capture.yml, or give -e image=NAME"
        )
    if not declared:
        if "authorized_keys" not in found:
            found["authorized_keys"] = get("sled_authorized_keys")
        for attribute, variable in (("image", "node_image"), ("authorized_keys", "sled_authorized_keys")):
            if found.get(attribute) is None:
                raise SledError(f"{name} has no {attribute}: set {variable}")
    return _validated(name, found)


def emptied(name: str, get: Get) -> Json:
    """The attributes of a node whose disks are to be wiped."""
    found = {key: get(key) if get(key) is not None else get(f"node_{key}") for key in ("wipe", "wipe_method")}
    return _validated(name, {"image": "", "user_data": "", **{k: v for k, v in found.items() if v is not None}})


def _validated(name: str, found: Json) -> Json:
    result = VALIDATOR.validate(found)
    if result.error_messages:
        raise SledError(f"{name}: {'; '.join(result.error_messages)}")
    return {attribute: result.validated_parameters[attribute] for attribute in found}


def ensure_bindings(
    client: Client, nodes: Mapping[str, Get], options: Json, *, dry: bool
) -> tuple[dict[str, Json], dict[str, str]]:
    """Binds the nodes; returns the result of each that was bound, and why the others were not.

    dry: sledd reports what that would do, and stores nothing. Raises SledError if sledd cannot be read.
    """
    stored = {key: one for one in client.bindings() for key in (one.get("node", ""), one["mac"])}
    requests: dict[str, tuple[Json, Json | None]] = {}
    failures: dict[str, str] = {}
    for name, get in nodes.items():
        have = stored.get(name) or client.find("bindings", name)
        try:
            want = emptied(name, get) if options["empty"] else attributes(name, get, have)
        except SledError as error:
            failures[name] = str(error)
            continue
        terms = {"node": name, "take_over": False, "reimage": options["reimage"], "above": options["above"].get(name)}
        requests[name] = {**want, **terms}, have

    def one(name: str) -> Json | SledError:
        want, have = requests[name]
        try:
            return bind(client, want, have, check=False, dry=dry)
        except SledError as error:
            return error

    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = dict(zip(requests, pool.map(one, requests), strict=True))
    failures |= {name: str(result) for name, result in results.items() if isinstance(result, SledError)}
    return {name: result for name, result in results.items() if not isinstance(result, SledError)}, failures
