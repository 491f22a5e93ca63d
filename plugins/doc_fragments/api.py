# SPDX-License-Identifier: Apache-2.0
"""Documentation of the connection options, once for all modules and, with environment variables, for the inventory."""

from __future__ import annotations


class ModuleDocFragment:
    """Options of every module of sled.fleet; C(sled.fleet.api.inventory) has the inventory plugin's."""

    DOCUMENTATION = r"""
options:
  server:
    description:
      - URL of the boot server, V(https://ADDRESS). Plain HTTP only to loopback, because of the token.
      - Default is the environment variable E(SLED_SERVER).
    type: str
    required: true
  token:
    description:
      - An operator's token. Reading needs the role C(read), everything else C(operate).
      - Default is the environment variable E(SLED_TOKEN). O(token_file) is preferred.
    type: str
  token_file:
    description:
      - File that holds the token, on the machine that the module runs on. Used when O(token) is not given.
      - Default is the environment variable E(SLED_TOKEN_FILE).
    type: path
  ca_file:
    description:
      - PEM file of the CA that the server's certificate must chain to. The default is the CAs of the system.
      - Default is the environment variable E(SLED_CA).
    type: path
  timeout:
    description: Deadline of one request, in seconds.
    type: float
    default: 30.0
notes:
  - The module connects to sledd, not to the node. Run it on the controller, with C(delegate_to=localhost).
  - With the name of a rollout in the environment variable E(SLED_ROLLOUT), its requests report that the rollout is
    followed, until the playbook ends.
"""

    INVENTORY = r"""
options:
  server:
    description: URL of the boot server, V(https://ADDRESS). Plain HTTP only to loopback, because of the token.
    type: str
    required: true
    env:
      - name: SLED_SERVER
  token:
    description: An operator's token, role C(read). O(token_file) is preferred.
    type: str
    env:
      - name: SLED_TOKEN
  token_file:
    description: File that holds the token; a relative name is searched beside the inventory file first. Used when
      O(token) is not given.
    type: str
    env:
      - name: SLED_TOKEN_FILE
  ca_file:
    description: PEM file of the CA that the server's certificate must chain to; found as O(token_file) is. The default
      is the CAs of the system.
    type: str
    env:
      - name: SLED_CA
  timeout:
    description: Deadline of one request, in seconds.
    type: float
    default: 30.0
"""

    ATTRIBUTES = r"""
attributes:
  check_mode:
    description: Sledd checks the change as it would in the run and reports what it would do; nothing is stored.
    support: full
  diff_mode:
    description: Shows the declaration before and after.
    support: full
"""
