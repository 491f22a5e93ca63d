#!/usr/bin/python
# SPDX-License-Identifier: Apache-2.0
"""Module sled.fleet.job."""

from __future__ import annotations

DOCUMENTATION = r"""
module: job
short_description: Runs a container image or a kernel on a node once, from RAM
version_added: 0.2.0
description:
  - A job runs an image of kind C(root) as a container on a whole node, or starts a payload of kind C(kernel) instead
    of the Sled system. Disks are not touched, and the binding continues afterwards. After a payload the node needs a
    power cycle, unless it came back by itself.
  - A node that waits in the Sled system starts the job at once, any other at its next boot. The module does not switch
    power; C(playbooks/run.yml) does.
author:
  - The Sled authors (@sled-fleet)
extends_documentation_fragment:
  - sled.fleet.api
  - sled.fleet.api.attributes
options:
  state:
    description: V(started) requests a job. V(ended) waits for the end of job O(id) and stores its output in O(dest).
      V(cancelled) ends job O(id), unless it has ended.
    type: str
    choices: [started, ended, cancelled]
    default: started
  id:
    description: Id of the job, for O(state=ended) and O(state=cancelled).
    type: str
  node:
    description: Name or MAC of the node. Without it, sledd takes a node with O(labels) that waits.
    type: str
  labels:
    description: Labels of a node to take.
    type: dict
  image:
    description: Name of an image of kind C(root), or of a payload of kind C(kernel). It may be registered later; the
      node waits for it.
    type: str
  command:
    description: Arguments, or the whole command without an entry point.
    type: list
    elements: str
  entrypoint:
    description: Program and arguments before the command, instead of those of the image.
    type: list
    elements: str
  environment:
    description: Variables of the payload.
    type: dict
  secrets:
    description: Contents of files in C(/run/secrets), by name. They are never returned.
    type: dict
  folder:
    description: Working directory.
    type: str
  user:
    description: User and group as numbers, C(UID:GID).
    type: str
  kernel:
    description: Name of an image of kind C(kernel), on which the payload runs instead of the kernel of the Sled system.
    type: str
  kernel_arguments:
    description: Arguments of that kernel, or of a payload.
    type: str
  tune:
    description: Settings of the kernel, each as C(PATH=VALUE) with a path below C(/sys) or C(/proc/sys). They are
      written and read back in this order before the payload starts.
    type: list
    elements: str
  root:
    description: V(memory) fetches the whole image into the memory of the node. With V(net) it stays at the boot server,
      which exports it by NFS, and each block that is read is checked.
    type: str
    choices: [memory, net]
    default: memory
  privileged:
    description: Whether the payload is root on the node, with its devices but disks.
    type: bool
    default: false
  artefacts:
    description: Absolute paths in the container that are kept.
    type: list
    elements: str
  timeout:
    description: Seconds that the payload may run.
    type: int
    default: 3600
  grace:
    description: Seconds between SIGTERM and SIGKILL.
    type: int
    default: 10
  after:
    description: What the node does afterwards. It continues as before, waits in the Sled system, or switches itself
      off.
    type: str
    choices: [return, hold, poweroff]
    default: return
  interrupt:
    description: Whether a node is taken whose system runs. That system boots again afterwards.
    type: bool
    default: false
  wait:
    description: Seconds to wait for the end of the job, for O(state=ended).
    type: int
    default: 7200
  dest:
    description: Directory on the controller for C(stdout), C(stderr) and C(artefacts.tar) of the job. Each is compared
      with the size and SHA-256 that the node reported.
    type: path
"""

EXAMPLES = r"""
- name: Start a benchmark
  sled.fleet.job:
    node: "{{ inventory_hostname }}"
    image: hpl-v3
    command: [./xhpl, "12800"]
  delegate_to: localhost
  register: started

- name: Wait for its end
  sled.fleet.job:
    state: ended
    id: "{{ started.job.id }}"
    dest: "results/{{ inventory_hostname }}"
  delegate_to: localhost
"""

RETURN = r"""
job:
  description: The job, as sledd shows it.
  returned: success
  type: dict
  sample:
    id: 1kq7d2g3r9qa
    node: n1
    state: done
    exit: 0
    seconds: 698.9
"""

import time
from pathlib import Path

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SledError, Unreachable
from ansible_collections.sled.fleet.plugins.module_utils.jobs import Jobs
from ansible_collections.sled.fleet.plugins.module_utils.options import API, given, run

TEXTS = ("node", "image", "folder", "user", "kernel", "kernel_arguments")
LISTS = ("command", "entrypoint", "artefacts", "tune")
SWITCHES = ("privileged", "interrupt")
NUMBERS = {"timeout": 3600, "grace": 10}
WANTED = (*TEXTS, *LISTS, *SWITCHES, *NUMBERS, "labels", "secrets", "after", "root")
SPEC = {
    **API,
    "state": {"type": "str", "choices": ["started", "ended", "cancelled"], "default": "started"},
    "id": {"type": "str"},
    **{name: {"type": "str"} for name in TEXTS},
    **{name: {"type": "list", "elements": "str"} for name in LISTS},
    **{name: {"type": "dict"} for name in ("labels", "environment")},
    "secrets": {"type": "dict", "no_log": True},
    **{name: {"type": "bool", "default": False} for name in SWITCHES},
    **{name: {"type": "int", "default": value} for name, value in {**NUMBERS, "wait": 7200}.items()},
    "root": {"type": "str", "choices": ["memory", "net"], "default": "memory"},
    "after": {"type": "str", "choices": ["return", "hold", "poweroff"], "default": "return"},
    "dest": {"type": "path"},
}
ENDED = ("done", "failed", "cancelled", "lost")
PAUSE = 1.0  # seconds between two polls


def ensure_job(client: Client, options: Json, check: bool) -> Json:
    """Starts, awaits or cancels a job."""
    jobs = Jobs(client)
    if options["state"] == "started":
        spec = given(options, WANTED)
        if options["environment"]:
            spec["environment"] = [f"{name}={value}" for name, value in options["environment"].items()]
        return {"changed": True, "job": jobs.start(spec, check)}
    job = jobs.find(options["id"])
    if options["state"] == "cancelled":
        if job["state"] in ENDED:
            return {"changed": False, "job": job}
        return {"changed": True, "job": jobs.cancel(job["id"], check)}
    if check:
        return {"changed": False, "job": job}
    job = ended(jobs, job["id"], options["wait"])
    return {"changed": bool(options["dest"]) and jobs.store(job, Path(options["dest"])), "job": job}


def ended(jobs: Jobs, name: str, seconds: int) -> Json:
    """Waits until a job has ended. While sledd does not answer, the job continues."""
    end, state = time.monotonic() + seconds, "unknown"
    while True:
        try:
            job = jobs.find(name)
        except Unreachable:
            if time.monotonic() >= end:
                raise
        else:
            state = job["state"]
            if state in ENDED:
                return job
        if time.monotonic() >= end:
            raise SledError(f"waited {seconds} s for the end of job {name}: it is {state}")
        time.sleep(PAUSE)


def main() -> None:
    """Runs as an Ansible module."""
    run(
        AnsibleModule(
            SPEC,
            required_if=[("state", "started", ["image"]), ("state", "ended", ["id"]), ("state", "cancelled", ["id"])],
            mutually_exclusive=[("node", "labels")],
            supports_check_mode=True,
        ),
        ensure_job,
    )


if __name__ == "__main__":
    main()
