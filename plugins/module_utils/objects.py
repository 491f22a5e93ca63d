# SPDX-License-Identifier: Apache-2.0
"""Brings nodes, images and bindings to the desired state. What no option sets stays as it is stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone

from ansible_collections.sled.fleet.plugins.module_utils import imagefile, signing, words
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SledError, dry_run
from ansible_collections.sled.fleet.plugins.module_utils.options import given
from ansible_collections.sled.fleet.plugins.module_utils.ssh_keys import public_keys
from ansible_collections.sled.fleet.plugins.module_utils.user_data import user_data_hash
from ansible_collections.sled.fleet.plugins.module_utils.waiting import activity


@dataclass(frozen=True)
class Kind:
    """A kind of object: its names in the API, and the fields that an operator declares and can read back."""

    noun: str
    collection: str
    fields: tuple[str, ...]


NODE = Kind("node", "nodes", words.NODE)
IMAGE = Kind("image", "images", words.IMAGE)
BINDING = Kind("binding", "bindings", ("node", *words.BINDING))


def part(stored: Json | None, names: tuple[str, ...]) -> Json:
    """The declared part of a stored object. Empty values are left out, as sledd does."""
    return {name: stored[name] for name in names if stored.get(name)} if stored else {}


def without_none(options: Json) -> Json:
    """The suboptions that were given."""
    return {name: value for name, value in options.items() if value is not None}


def merged(have: Json, want: Json) -> Json:
    """Returns have with the values of want; an empty value removes the old one."""
    return {name: value for name, value in {**have, **want}.items() if value not in (None, "", [], {}, False)}


def outcome(noun: str, stored: Json | None, have: Json, want: Json) -> Json:
    """A module's result, with the difference of the declared part."""
    return {"changed": have != want, noun: stored or {}, "diff": {"before": have, "after": want}}


def normal_mac(text: str) -> str:
    """A MAC as the API has it: lower case with colons."""
    return text.lower().replace("-", ":")


def ensure_node(client: Client, options: Json, check: bool) -> Json:
    """Declares or forgets a node, and returns what it does now."""
    result = _ensure_node(client, options, check)
    node = result["node"]
    return {**result, "activity": activity(node, datetime.now(timezone.utc)) if "status" in node else "unknown"}


def _ensure_node(client: Client, options: Json, check: bool) -> Json:
    want = given(options, NODE.fields)
    if "mac" in want:
        want["mac"] = normal_mac(want["mac"])
    if "macs" in want:
        want["macs"] = [normal_mac(one) for one in want["macs"]]
    for name in words.NESTED:
        value = want.get(name)
        if value:
            want[name] = [without_none(one) for one in value] if isinstance(value, list) else without_none(value)
    stored = client.find("nodes", want["mac"] if "mac" in want else want["name"])
    if options["state"] == "absent":
        return _forget(client, NODE, stored, stored["mac"] if stored else "", check)
    declared = bool(stored and stored["declared"])
    have = part(stored, NODE.fields) if declared else {}
    spec = merged(part(stored, NODE.fields), want)
    for name in ("mac", "name"):
        if name not in spec:
            raise SledError(f"node {want.get('name') or want.get('mac')} is not declared yet: set its {name}")
    revision = int(stored["revision"]) if stored and declared and have != spec else 0
    if have != spec and isinstance(spec.get("network"), dict):  # sledd stores its canonical form: meanings are compared
        spec["network"] = client.put("nodes", spec["mac"], spec, revision, dry_run(True))["network"]
    if have != spec:
        stored = client.put("nodes", spec["mac"], spec, revision, dry_run(check))
    return outcome("node", {**(stored or {}), **spec}, have, spec)


def ensure_image(client: Client, options: Json, check: bool) -> Json:
    """Registers or forgets an image.

    The content of a registered one never changes; its URLs, labels and signature may.
    """
    stored = client.find("images", options["name"])
    if options["state"] == "absent":
        return _forget(client, IMAGE, stored, options["name"], check)
    have = part(stored, IMAGE.fields)
    want = given(options, IMAGE.fields)
    want.update({name: merged({}, want[name]) for name in ("container", "kernel", "payload") if want.get(name)})
    spec = merged(have, want)
    differ = sorted(name for name, usual in words.FIXED.items() if have.get(name, usual) != spec.get(name, usual))
    if stored and differ:
        raise SledError(
            f"image {options['name']} is registered with another {', '.join(differ)}: another content gets another name"
        )
    missing = [name for name in ("digest", "urls", "bytes", "file_bytes") if name not in spec]
    if missing:
        raise SledError(f"image {options['name']} is not registered yet: set its {', '.join(missing)}")
    content = _sign(client, options, have, spec) if options.get("key") else {}
    if have != spec:
        stored = client.put("images", options["name"], spec, stored["revision"] if stored else 0, dry_run(check))
    return {**outcome("image", {**(stored or {}), **spec}, have, spec), **content}


def _sign(client: Client, options: Json, have: Json, spec: Json) -> Json:
    """Signs what the image itself is, if that is what is registered. Returns what was signed."""
    name, line = spec["name"], options.get("line") or signing.line_of(spec["name"])
    if signing.is_signed(options["key"], have, name, line):
        return {}
    file = options.get("file")
    content = imagefile.read_file(file) if file else imagefile.read_urls(client, spec["urls"])
    if content["digest"] != spec["digest"]:
        raise SledError(
            f"nothing was signed: image {name} is registered with digest {spec['digest']}, and its file has"
            f" {content['digest']}"
        )
    kind = spec.get("kind", "disk")
    if "partition" in {content["kind"], kind} and content["kind"] != kind:
        raise SledError(
            f"nothing was signed: image {name} is registered with kind {kind}, and its file is of a {content['kind']}"
        )
    spec["statement"] = signing.statement_of(name, line, content["digest"], datetime.now(timezone.utc))
    spec["signature"] = signing.sign(options["key"], spec["statement"])
    return {"content": content}


def ensure_binding(client: Client, options: Json, check: bool) -> Json:
    """Writes or removes the binding. The generation in the result is the one to wait for."""
    node = options["node"]
    stored = client.find("bindings", node)
    if options["state"] == "absent":
        return _forget(client, BINDING, stored, node, check, terms=_terms(options, "owner", "take_over"))
    return bind(client, options, stored, check)


def bind(client: Client, options: Json, stored: Json | None, check: bool) -> Json:
    """Writes the binding, where stored is what sledd has."""
    result, spec, again = compared(client, options, stored)
    node, revision = options["node"], int((stored or {}).get("revision") or 0)
    if stored and again:
        result["binding"] = client.reimage(node, revision, check)
    elif spec:
        body, terms = {**spec, "node": node}, {**_terms(options, "reimage", "take_over"), **dry_run(check)}
        result["binding"] = client.put("bindings", node, body, revision, terms)
    result["generation"] = int(result["binding"].get("generation", 0))
    return result


def compared(client: Client, options: Json, stored: Json | None) -> tuple[Json, Json, bool]:
    """What a module returns of a binding before it is written, what is to be written, and whether that is the same.

    The same is written again where only the generation is to be raised. Empty: nothing is to be written.
    """
    node = options["node"]
    have = part(stored, BINDING.fields)
    want = _one_direction(given(options, BINDING.fields))
    if "authorized_keys" in want:
        want["authorized_keys"] = public_keys(node, want["authorized_keys"])
    if options["take_over"]:
        want.setdefault("owner", "")
    if stored is None and "image" not in want:
        raise SledError(f"node {node} is not bound yet: set image, image '' for a wipe only, or capture")
    spec = merged(have, want)
    spec["node"] = have.get("node", node)  # a node has a name and a MAC: either is the same node
    before, after = _with_user_data(client, stored, options.get("user_data"), have, spec)
    result = outcome("binding", stored, before, after)
    again = bool(stored and options["reimage"] and not result["changed"] and not _asked_before(options, stored))
    if not result["changed"] and not again:
        return result, {}, False
    user_data = {} if again else _user_data(stored, options.get("user_data"), node)
    return {**result, "changed": True}, {**spec, **user_data}, again


def _asked_before(options: Json, stored: Json) -> bool:
    """Whether the caller, who wants the generation raised once, has raised it already."""
    return options["above"] is not None and int(stored.get("generation", 0)) > options["above"]


def _terms(options: Json, *names: str) -> Json:
    """Those of the named options that say something, as a query."""
    return {name: "true" if options[name] is True else options[name] for name in names if options[name]}


def _one_direction(want: Json) -> Json:
    """A node is either written or captured: binding one removes the other."""
    if want.get("capture"):
        return {**want, "image": ""}
    return {**want, "capture": ""} if "image" in want else want


def _with_user_data(
    client: Client, stored: Json | None, user_data: str | None, have: Json, want: Json
) -> tuple[Json, Json]:
    """Both sides of the difference with the hash of their user data, which is all that sledd tells."""
    old = (stored or {}).get("user_data_sha256", "")
    new = old if user_data is None else user_data_hash(client, user_data)
    return merged(have, {"user_data_sha256": old}), merged(want, {"user_data_sha256": new})


def _user_data(stored: Json | None, user_data: str | None, node: str) -> Json:
    if user_data is None and (stored or {}).get("user_data_sha256"):
        raise SledError(
            f"the binding of {node} has user data, which sledd does not give out:"
            " give user_data again, or '' to drop it"
        )
    return {"user_data": user_data} if user_data else {}


def _forget(
    client: Client, kind: Kind, stored: Json | None, name: str, check: bool, *, terms: Json | None = None
) -> Json:
    if stored:
        client.delete(kind.collection, name, int(stored.get("revision") or 0), {**(terms or {}), **dry_run(check)})
    have = part(stored, kind.fields) or ({"mac": name} if stored else {})  # a discovered node has no declaration
    return outcome(kind.noun, stored, have, {})
