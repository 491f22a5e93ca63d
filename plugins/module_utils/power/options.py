# SPDX-License-Identifier: Apache-2.0
"""Options of a power control and of a window, as module power has them."""

from __future__ import annotations

from ansible_collections.sled.fleet.plugins.module_utils.client import Json

CONTROL: Json = {
    "driver": {"type": "str", "required": True},
    "address": {"type": "str"},
    "port": {"type": "int"},
    "username": {"type": "str"},
    "password": {"type": "str", "no_log": True},
    "password_file": {"type": "path", "no_log": False},
    "password_env": {"type": "str", "no_log": False},
    "cipher_suite": {"type": "int", "choices": [3, 17], "default": 17},
    "ca_file": {"type": "path"},
    "fingerprint": {"type": "str"},
    "networks": {"type": "list", "elements": "str", "default": []},
    "system": {"type": "str"},
    "mac": {"type": "str"},
    "macs": {"type": "list", "elements": "str"},
    "interface": {"type": "str"},
    "commands": {"type": "dict"},
    "key_file": {"type": "path", "no_log": False},
    "ssh_arguments": {"type": "list", "elements": "str"},
    "timeout": {"type": "float"},
}
WINDOW: Json = {
    "nodes": {"type": "int", "required": True},
    "seconds": {"type": "float", "required": True},
    "file": {"type": "path"},
}
