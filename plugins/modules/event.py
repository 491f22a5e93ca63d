#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Module sled.fleet.event: spec and glue."""

from __future__ import annotations

DOCUMENTATION = r"""
module: event
short_description: Records what a supervisor did to a node or observed
version_added: 0.1.0
description:
  - Adds an event to those of a node. sledd does not observe power; the timeline of a run starts with an event C(power).
  - Each run of the task adds one event.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - sled.fleet.api
attributes:
  check_mode:
    description: Reports a change and adds nothing.
    support: full
  diff_mode:
    description: Shows the event that is added.
    support: full
options:
  node:
    description: MAC or name of the node.
    type: str
    required: true
  kind:
    description:
      - Kind of event. V(power), the node was switched; V(entry), an entry method was tried, or failed.
      - V(fallback), what was started did not confirm and is started once more, an installed system from its disk, an
        image in memory from the network; V(lost), it did not confirm at all, and the node counts as failed.
    type: str
    choices: [power, entry, fallback, lost]
    default: power
  detail:
    description: What was done, such as V(on), V(off) or V(cycle), or why. The YAML values true and false mean V(on) and
      V(off).
    type: str
    required: true
  console:
    description: Keep the end of the node's console as its log, where a console is kept. For V(fallback) and V(lost).
    type: bool
    default: false
"""

EXAMPLES = r"""
- name: Record the power-on
  sled.fleet.event:
    node: "{{ inventory_hostname }}"
    detail: "on"
  delegate_to: localhost
"""

RETURN = r"""
event:
  description: The event that was added.
  returned: success
  type: dict
  sample: {kind: power, detail: "on"}
"""

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.options import API, run

SPEC = {
    **API,
    "node": {"type": "str", "required": True},
    "kind": {"type": "str", "choices": ["power", "entry", "fallback", "lost"], "default": "power"},
    "detail": {"type": "str", "required": True},
    "console": {"type": "bool", "default": False},
}
LONGEST_DETAIL = 512
LAST_WORDS = 16 << 10  # characters of a console
YAML_BOOLEANS = {"True": "on", "False": "off"}


def last_words(client: Client, node: str) -> str:
    """The end of the node's console. One that cannot be read is no reason to hide the event."""
    try:
        return client.console(node)[-LAST_WORDS:]
    except SledError as error:
        return f"the console cannot be read: {error}"


def work(client: Client, options: Json, check: bool) -> Json:
    """Adds the event; in check mode it only makes sure that the node exists."""
    detail = str(YAML_BOOLEANS.get(options["detail"], options["detail"]))
    event = {"kind": options["kind"], "detail": detail[:LONGEST_DETAIL]}
    if not check:
        client.post_event(
            options["node"], **event, log=last_words(client, options["node"]) if options["console"] else ""
        )
    elif client.find("nodes", options["node"]) is None:
        raise SledError(f"node {options['node']} does not exist")
    return {"changed": True, "event": event, "diff": {"before": {}, "after": event}}


def main() -> None:
    """Runs as an Ansible module."""
    run(AnsibleModule(SPEC, supports_check_mode=True), work)


if __name__ == "__main__":
    main()
