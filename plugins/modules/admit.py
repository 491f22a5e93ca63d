#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Module sled.fleet.admit."""

from __future__ import annotations

DOCUMENTATION = r"""
module: admit
short_description: Decides which machine is a node
version_added: 0.2.0
description:
  - A machine that boots the Sled system claims to be a node. It gets plans and secrets only once it is admitted
    (docs/admission.md). This module lists claims, admits one, or makes a boot expected.
  - The modules and roles of this collection that start a machine expect its boot themselves.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - sled.fleet.api
attributes:
  check_mode:
    description: Reads the claims, and decides nothing.
    support: full
options:
  node:
    description: Name or MAC of the node. Required, except for O(state=listed).
    type: str
  state:
    description:
      - V(listed) only reads, one node or all that have claims.
      - V(expected) opens a window of O(seconds). A claim within it is admitted at level expected.
      - V(admitted) admits the claim with O(code), at level proven. Without O(code) it admits, at level expected, the
        only claim of a node that nobody is admitted as. It changes nothing where there is no claim, where O(code) is
        admitted already, or where a code is required.
      - V(refused) ends the claim with O(code), V(revoked) the admission.
    type: str
    choices: [listed, expected, admitted, refused, revoked]
    default: listed
  code:
    description: Code of a claim. Read it on the screen or the serial console of the machine, C(sled:) C(claim)
      C(K7QF-2M9D). Otherwise it does not prove anything.
    type: str
  seconds:
    description: Length of the window for O(state=expected), 10 to 86400.
    type: int
    default: 900
  by:
    description: What the boot is expected after, for O(state=expected). It is recorded.
    type: str
    default: operator
  sled_only:
    description: For O(state=expected), opens no window for a node whose boot script boots its local disk.
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: List the claims of all nodes
  sled.fleet.admit:
  delegate_to: localhost

- name: Admit the machine whose console shows this code
  sled.fleet.admit:
    node: n1
    state: admitted
    code: K7QF-2M9D
  delegate_to: localhost

- name: Expect a node that a person switches on
  sled.fleet.admit:
    node: n1
    state: expected
    seconds: 1800
    by: manual
  delegate_to: localhost
"""

RETURN = r"""
admissions:
  description: Who claims to be each node, and who is admitted. One item if a node was named.
  returned: success
  type: list
  elements: dict
  sample:
    - mac: "52:54:00:77:00:01"
      name: n1
      state: waiting
      required: expected
      claims:
        - {code: K7QF-2M9D, address: 10.77.0.23, link: same, evidence: []}
waits:
  description: Why nothing was admitted, in words; empty if there is nothing to do.
  returned: success
  type: str
  sample: level proven is required, so read the code on the console of n1
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.sled.fleet.plugins.module_utils.client import (
    LONGEST_WINDOW,
    SHORTEST_WINDOW,
    Client,
    Json,
    SettingsError,
)
from ansible_collections.sled.fleet.plugins.module_utils.options import API, run

SPEC = {
    **API,
    "node": {"type": "str"},
    "state": {
        "type": "str",
        "choices": ["listed", "expected", "admitted", "refused", "revoked"],
        "default": "listed",
    },
    "code": {"type": "str"},
    "seconds": {"type": "int", "default": 900},
    "by": {"type": "str", "default": "operator"},
    "sled_only": {"type": "bool", "default": False},
}


def result(changed: bool, *admissions: Json, waits: str = "") -> Json:
    """What every state returns."""
    return {"changed": changed, "admissions": list(admissions), "waits": waits}


def decide(client: Client, options: Json, check: bool) -> Json:
    """Applies the state."""
    node, state = options["node"], options["state"]
    if state == "listed":
        return result(False, *([client.admission(node)] if node else client.claims()))
    before = client.admission(node)
    if state == "expected":
        return expected(client, options, before, check)
    if state == "admitted":
        return admitted(client, options, before, check)
    if state == "refused":
        known = plain(options["code"]) in [plain(claim["code"]) for claim in before["claims"]]
        spec = {"code": options["code"]}
        return result(known, client.decide(node, "refuse", **spec) if known and not check else before)
    if not before.get("incumbent"):
        return result(False, before)
    return result(True, before if check else client.decide(node, "revoke"))


def expected(client: Client, options: Json, before: Json, check: bool) -> Json:
    """Opens a window, or a new one."""
    if not SHORTEST_WINDOW <= options["seconds"] <= LONGEST_WINDOW:
        raise SettingsError(f"seconds {options['seconds']}: want {SHORTEST_WINDOW} to {LONGEST_WINDOW}")
    if check:
        return result(True, before)
    terms = {name: options[name] for name in ("by", "seconds", "sled_only")}
    after = client.decide(options["node"], "expect", **terms)
    return result(after.get("window") != before.get("window"), after)


def admitted(client: Client, options: Json, before: Json, check: bool) -> Json:
    """Admits the claim with the code, or the only one."""
    node, code, unseen = options["node"], options["code"], not options["code"]
    incumbent, waiting = before.get("incumbent") or {}, before["claims"]
    if unseen:
        if incumbent or not waiting:
            return result(False, before)
        why = reason_to_wait(node, before)
        if why:
            return result(False, before, waits=why)
        code = waiting[0]["code"]
    elif incumbent and plain(incumbent["code"]) == plain(code) and "person" in incumbent["evidence"]:
        return result(False, before)
    return result(True, before if check else client.decide(node, "admit", code=code, unseen=unseen))


def reason_to_wait(node: str, before: Json) -> str:
    """Why a claim is not admitted unless its code was read."""
    codes = ", ".join(
        f"{claim['code']} from {claim.get('address') or 'an unknown address'}" for claim in before["claims"]
    )
    if before["required"] not in ("open", "expected"):
        return f"level {before['required']} is required, so read the code on the console of {node}; it claims {codes}"
    if len(before["claims"]) > 1:
        return f"{len(before['claims'])} machines claim to be {node}, so read the code on its console: {codes}"
    if before["claims"][0]["link"] == "other":
        return f"the address of the claim belongs to another MAC than that of {node}: {codes}"
    return ""


def plain(code: str) -> str:
    """A code without what people write differently."""
    return code.upper().replace("-", "").replace("O", "0").replace("I", "1").replace("L", "1")


def main() -> None:
    """Runs as an Ansible module."""
    needs = [(state, ["node"]) for state in ("expected", "admitted", "revoked")]
    required = [("state", state, names) for state, names in [*needs, ("refused", ["node", "code"])]]
    run(AnsibleModule(SPEC, required_if=required, supports_check_mode=True), decide)


if __name__ == "__main__":
    main()
