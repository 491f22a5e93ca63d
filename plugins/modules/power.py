#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Module sled.fleet.power: spec and glue; the work is in module_utils/power/."""

from __future__ import annotations

DOCUMENTATION = r"""
module: power
short_description: Switches a node on and off
version_added: 0.2.0
description:
  - Executes one action on a node by its power controls. The task ends when the requested state was observed, or reports
    which control failed and why.
  - The controls are tried in the order of the list. If a control is unreachable, refuses, or accepts without
    effect, the next one is tried. All failures are in the result.
  - Before it switches power on, it informs sledd, if O(events) and the connection options are set.
  - With O(expect), sledd expects the node to boot the Sled system then.
  - Runs on the controller, which reaches the controls.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - sled.fleet.api.attributes
  - sled.fleet.controls
options:
  node:
    description: Name or MAC of the node, for messages and for sledd.
    type: str
    required: true
  action:
    description:
      - What to do. V(cycle) is off, then on, and just on for a node that is off.
      - V(boot) starts a node once from O(device), whether it is on or off. The device is set right before on.
      - V(reset) needs a node that is on. V(bootdev) only sets the device of the next boot.
      - V(bootorder) reads the permanent boot order, and moves the entries of O(order) to its start.
      - V(wait_off) waits until the node has switched itself off.
      - V(watts) reads the power that the node draws, and the energy of the next O(seconds).
    type: str
    choices: ["on", "off", cycle, reset, status, boot, bootdev, bootorder, wait_off, watts]
    default: status
  device:
    description: Device of the next boot, for O(action=boot) and O(action=bootdev).
    type: str
    choices: [pxe, disk]
    default: pxe
  firmware:
    description: How the next boot is done, for the same. Without it, the setting is kept; IPMI then means BIOS.
    type: str
    choices: [bios, uefi]
  order:
    description:
      - For O(action=bootorder), what comes first, in this order. A reference such as V(Boot0003) is that entry, V(pxe)
        all that start from the network, V(disk) all that start from a disk. The others follow as they were. Without it
        the order is only read.
      - Needs a control that has such an order, V(redfish). For others declare C(node_boot_order), which imaging sets
        itself.
    type: list
    elements: str
    default: []
  seconds:
    description: For O(action=watts), the time over which the energy is measured. V(0) only reads the power.
    type: float
    default: 0.0
  job:
    description:
      - For O(action=watts), a job whose energy is measured instead, from its plan to its end, and stored with it. The
        token is that of the operator who requested the job.
      - The module reads the meter until the job has ended, so run it with C(async).
    type: str
  timeout:
    description: Seconds within which an accepted request must take effect, for each control that sets no other timeout.
    type: float
    default: 60.0
  window:
    description: Limits the power-ons that this machine requests within a time, against inrush current.
    type: dict
    suboptions:
      nodes:
        description: Largest number of power-ons.
        type: int
        required: true
      seconds:
        description: Length of the time, in seconds.
        type: float
        required: true
      file:
        description: File that all processes with this window share. Racks with separate power feeds use separate files.
          The default is C(~/.local/state/sled/power-window).
        type: path
  events:
    description: Whether to report to sledd that power is switched on. If sledd is unreachable, this is a warning.
    type: bool
    default: false
  expect:
    description: Seconds within which the node is expected to boot the Sled system, from when it was seen off, or when a
      reset was accepted. sledd admits a machine that claims to be the node in this time. V(0) expects nothing. Nothing
      is expected of a node that boots its disk. If sledd is unreachable, this is a warning.
    type: int
    default: 0
  server:
    description: URL of sledd. The environment variable E(SLED_SERVER) is used when it is absent.
    type: str
  token:
    description: API token of the role operate. The environment variable E(SLED_TOKEN) is used when it is absent.
    type: str
  token_file:
    description: File that holds the token. The environment variable E(SLED_TOKEN_FILE) is used when it is absent.
    type: path
  ca_file:
    description: CA certificates for the certificate of sledd. The environment variable E(SLED_CA) is used when it is
      absent.
    type: path
  ssh_common_args:
    description: Arguments of each control V(ssh) after its own, as in C(ansible_ssh_common_args), such as those for the
      host key of the node.
    type: str
    default: ""
"""

EXAMPLES = r"""
- name: Switch a node on by its BMC, by the socket when the BMC does not
  sled.fleet.power:
    node: n1
    action: "on"
    controls:
      - driver: redfish
        address: 10.30.0.101
        username: sled
        password_file: secrets/bmc
        ca_file: secrets/bmc-ca.crt
      - driver: command
        commands:
          "on": [pdu, rack-a, socket, "7", "on"]
          "off": [pdu, rack-a, socket, "7", "off"]
          status: [pdu, rack-a, socket, "7"]
  delegate_to: localhost
"""

RETURN = r"""
power_state:
  description: The state that was observed last; V(unknown) if no control reports it. In check mode as it would be.
  returned: success
  type: str
  sample: "on"
boot_order:
  description: The boot order as it will be from the next start on, first entry first. In check mode as it is.
  returned: success, with O(action=bootorder)
  type: list
  elements: dict
  sample:
    - reference: Boot0003
      kind: pxe
      name: UEFI PXEv4 (MAC:525400770001)
watts:
  description: The power that the node draws, in W.
  returned: success, with O(action=watts)
  type: float
  sample: 214.0
energy:
  description: The energy of O(seconds), and the seconds between two changes of the reading. Without a figure C(joules)
    is null and C(reason) is set. If readings are missing, C(least) and C(most) are null too. Of O(job), what was
    stored; null without a meter.
  returned: success, with O(seconds) or O(job)
  type: dict
  sample: {"joules": 25680.0, "least": 25410.0, "most": 25930.0, "refresh": 2.0, "reason": ""}
control:
  description: The control that executed the action or reported the state; empty if nothing had to be done.
  returned: always
  type: str
  sample: ipmi 10.30.0.101:623
tried:
  description: Failures before that, in order.
  returned: always
  type: list
  elements: dict
  sample:
    - driver: ssh
      control: ssh 10.20.0.101:22
      verb: "off"
      kind: unreachable
      error: "ssh 10.20.0.101:22: No route to host: check address, and that the system runs"
kind:
  description: Kind of the last failure. V(settings), V(credentials), V(untrusted), V(unreachable), V(refused), V(busy),
    V(lied) (accepted, and nothing changed in time) or V(unsupported).
  returned: failure
  type: str
  sample: credentials
"""

from dataclasses import asdict

from ansible.module_utils.basic import AnsibleModule, env_fallback
from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SledError
from ansible_collections.sled.fleet.plugins.module_utils.power.drivers import make
from ansible_collections.sled.fleet.plugins.module_utils.power.news import expect, job_energy, switched_on
from ansible_collections.sled.fleet.plugins.module_utils.power.options import CONTROL, WINDOW
from ansible_collections.sled.fleet.plugins.module_utils.power.switch import TARGETS, Switch, Terms
from ansible_collections.sled.fleet.plugins.module_utils.power.window import gate_of, window_of

SPEC: Json = {
    "node": {"type": "str", "required": True},
    "action": {
        "type": "str",
        "choices": ["on", "off", "cycle", "reset", "status", "boot", "bootdev", "bootorder", "wait_off", "watts"],
        "default": "status",
    },
    "device": {"type": "str", "choices": ["pxe", "disk"], "default": "pxe"},
    "firmware": {"type": "str", "choices": ["bios", "uefi"]},
    "order": {"type": "list", "elements": "str", "default": []},
    "seconds": {"type": "float", "default": 0.0},
    "job": {"type": "str"},
    "timeout": {"type": "float", "default": 60.0},
    "window": {"type": "dict", "options": WINDOW},
    "events": {"type": "bool", "default": False},
    "expect": {"type": "int", "default": 0},
    "server": {"type": "str", "fallback": (env_fallback, ["SLED_SERVER"])},
    "token": {"type": "str", "no_log": True, "fallback": (env_fallback, ["SLED_TOKEN"])},
    "token_file": {"type": "path", "no_log": False, "fallback": (env_fallback, ["SLED_TOKEN_FILE"])},
    "ca_file": {"type": "path", "fallback": (env_fallback, ["SLED_CA"])},
    "ssh_common_args": {"type": "str", "default": ""},
    "controls": {"type": "list", "elements": "dict", "required": True, "options": CONTROL},
}


def terms(module: AnsibleModule) -> Terms:
    """How to go about it, as the options say."""
    found = Terms(timeout=module.params["timeout"])
    found.before_on = lambda driver: switched_on(module.params, driver, module.warn)
    found.expect = lambda driver: expect(module.params, driver, module.warn)
    if module.params["window"]:
        found.window, found.gate = window_of(module.params["window"]).wait, gate_of(module.params["window"]).wait
    return found


def work(module: AnsibleModule, switch: Switch) -> Json:
    """Does the action; in check mode it only asks for the state."""
    action = module.params["action"]
    if action == "bootorder":
        changed = switch.order(module.params["order"], dry=module.check_mode)
        return {"changed": changed, "power_state": switch.power, "boot_order": switch.boot_order}
    if action == "watts" and module.params["job"]:
        energy = None if module.check_mode else job_energy(module.params, switch)
        return {"changed": bool(energy), "power_state": switch.power, "energy": energy}
    if action == "watts":
        watts, found = switch.watts(module.params["seconds"])
        return {"changed": False, "power_state": switch.power, "watts": watts, "energy": found and asdict(found)}
    if action == "status":
        state, changed = switch.status(), False
    elif module.check_mode:
        before = switch.status()
        changed = action not in ("wait_off", before)
        state = TARGETS.get(action, "off" if action == "wait_off" else before)
    else:
        changed = switch.do(action, module.params["device"], module.params["firmware"] or "")
        state = switch.power
    return {"changed": changed, "power_state": state}


def main() -> None:
    """Runs as an Ansible module."""
    module = AnsibleModule(SPEC, supports_check_mode=True)
    switch = Switch(module.params["node"], [])
    try:
        if not module.params["controls"]:
            raise SledError(f"{module.params['node']} has no power control: set at least one")
        node, common = module.params["node"], module.params["ssh_common_args"]
        switch.drivers = [make(node, control, common) for control in module.params["controls"]]
        switch.terms = terms(module)
        result = work(module, switch)
    except SledError as error:
        node = module.params["node"]
        text = str(error) if str(error).startswith(node) else f"{node}: {error}"
        kind = switch.tried[-1]["kind"] if switch.tried else getattr(error, "kind", "settings")
        module.fail_json(msg=text, kind=kind, control=switch.control, tried=switch.tried)
    else:
        module.exit_json(**result, control=switch.control, tried=switch.tried)


if __name__ == "__main__":
    main()
