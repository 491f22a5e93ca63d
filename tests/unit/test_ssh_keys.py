# SPDX-License-Identifier: Apache-2.0
"""What operators give in the place of an SSH public key does not leave the controller."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.bulk import ensure_bindings
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json
from ansible_collections.sled.fleet.plugins.module_utils.ssh_keys import fault, public_keys
from ansible_collections.sled.fleet.plugins.modules import binding, rescue
from ansible_collections.sled.fleet.tests.unit.double import Sledd

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
PRIVATE = "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0\n-----END OPENSSH PRIVATE KEY-----\n"
Run = Callable[..., Json]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (KEY, ""),
        (f"{KEY} alice", ""),
        (f'from="10.0.0.1",command="echo a b" {KEY} alice', ""),
        ("# admins", ""),
        (PRIVATE, "private key: give the public key"),
        ("-----BEGIN RSA PRIVATE KEY-----", "private key"),
        ("---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----", "private key"),
        ("PuTTY-User-Key-File-3: ssh-ed25519", "private key"),
        ("---- BEGIN SSH2 PUBLIC KEY ----", "RFC 4716"),
        ("-----BEGIN PUBLIC KEY-----", "PEM"),
        ("~/.ssh/id_ed25519.pub", "content of a .pub file"),
        (KEY.replace("ed25519", "rsa", 1), "not an SSH public key"),
        ("ssh-ed25519 AAAA alice", "not an SSH public key"),
        ("ssh-ed25519 AAA alice", "not an SSH public key"),
        (KEY.split()[1], "not an SSH public key"),
        (f"{KEY}\n{KEY}", "one line"),
        ("", "one line"),
    ],
)
def test_keys_are_recognised(line: str, reason: str) -> None:
    assert reason in fault(line)
    assert bool(fault(line)) == bool(reason)
    assert len(line) < 9 or line not in fault(line)


def test_the_end_of_a_line_is_removed() -> None:
    assert public_keys("n1", [f"{KEY} alice\n", f"{KEY}\r\n"]) == [f"{KEY} alice", KEY]


def test_no_private_key_is_sent(sledd: Sledd, client: Client, module: Run) -> None:
    sledd.node("n1", 1)
    keys, reason = [KEY, PRIVATE], "n1: authorized key 2 is a private key: give the public key"
    for check in (False, True):
        assert reason in module(binding, node="n1", image="v1", authorized_keys=keys, check=check)["msg"]
        assert reason in module(rescue, node="n1", authorized_keys=keys, check=check)["msg"]
    site = {"node_image": "v1", "sled_authorized_keys": keys}
    _, failures = ensure_bindings(client, {"n1": site.get}, {"empty": False, "reimage": False, "above": {}}, dry=True)
    assert reason in failures["n1"]
    assert [method for method, *_ in sledd.asked if method != "GET"] == []
