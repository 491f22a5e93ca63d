# SPDX-License-Identifier: Apache-2.0
"""Documentation of the power controls of a node."""

from __future__ import annotations


class ModuleDocFragment:
    """The option of a module that reaches them."""

    DOCUMENTATION = r"""
options:
  controls:
    description: The power controls of the node, in the order in which they are tried.
    type: list
    elements: dict
    required: true
    suboptions:
      driver:
        description: Name of the driver, such as V(ipmi) or V(redfish). V(ssh) can only end or restart a system that
          runs, V(wol) only wake.
        type: str
        required: true
      address:
        description: Name or address. For V(wol) the broadcast address of the node's network, V(255.255.255.255) without
          it.
        type: str
      port:
        description: Port, if it is not the default of the driver. 16993 is AMT over TLS.
        type: int
      username:
        description: User name.
        type: str
      password:
        description: Password. O(controls[].password_file) and O(controls[].password_env) keep it out of the
          inventory.
        type: str
      password_file:
        description: File whose first line is the password; only its owner may read it.
        type: path
      password_env:
        description: Environment variable of the controller that holds the password.
        type: str
      cipher_suite:
        description: IPMI cipher suite, 17 (SHA-256) or, for older BMCs, 3 (SHA-1).
        type: int
        choices: [3, 17]
        default: 17
      ca_file:
        description: CA certificates for a Redfish or AMT service, instead of those of the machine.
        type: path
      fingerprint:
        description: SHA-256 of the service's certificate, in hexadecimal. It replaces the verification by a CA.
        type: str
      networks:
        description:
          - Networks or addresses that the password may be sent to, such as V(10.30.0.0/24). The address of a BMC may
            come from sledd, where an operator without this password declares it.
          - V(ipmi), V(redfish) and V(amt) refuse any other address. They need this option, or O(controls[].fingerprint)
            over TLS. Where both are set, both must match.
        type: list
        elements: str
        default: []
      system:
        description: System of a Redfish service that has several.
        type: str
      mac:
        description: MAC that V(wol) wakes.
        type: str
      macs:
        description: Further MACs of the node, which V(wol) wakes too.
        type: list
        elements: str
      interface:
        description: Interface of the controller that V(wol) sends on, also as a raw frame. Needs root.
        type: str
      commands:
        description:
          - For V(command), a program with its arguments for each of C(on), C(off), C(cycle), C(reset), C(status),
            C(bootdev), C(watts), those that there are. C(status) prints on or off, C(watts) a number; C(bootdev) gets
            the device as its last argument.
          - They find E(SLED_NODE), E(SLED_VERB), E(SLED_DEVICE), E(SLED_FIRMWARE) and, where one is given,
            E(SLED_PASSWORD) in the environment. Code 69 means unreachable, 77 wrong credentials, any other but 0
            refused.
        type: dict
      key_file:
        description: Private key of V(ssh). The default is the configuration of ssh.
        type: path
      ssh_arguments:
        description: Further arguments of V(ssh), before those of O(ssh_common_args).
        type: list
        elements: str
      timeout:
        description: Seconds within which a request that this control accepted must take effect.
        type: float
"""
