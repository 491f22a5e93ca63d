# SPDX-License-Identifier: Apache-2.0
"""Variables of a node as settings of the supervisor."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.client import SettingsError
from ansible_collections.sled.fleet.plugins.module_utils.supervise.core import Method
from ansible_collections.sled.fleet.plugins.module_utils.supervise.settings import Settings, settings_of


def of(**variables: Any) -> Settings:
    return settings_of("n1", variables.get)


def test_the_defaults_of_a_node_without_variables() -> None:
    one = of()
    assert (one.name, one.node, one.controls, one.window, one.firmware) == ("n1", "n1", (), None, "")
    assert list(one.policy.methods) == ["idle", "warm", "power", "wol", "manual"]
    assert one.policy.methods["power"] == Method(900, 1)
    assert (one.policy.silent, one.policy.timeout, one.policy.retries) == ({"any": 600}, 259200, 1)
    assert (one.policy.codes, one.policy.confirm, one.policy.fallback) == ((1, 6), 900, True)
    assert (one.login.address, one.login.user, one.login.become, one.login.connection) == ("n1", "", False, "ssh")
    assert "manual" not in of(power_driver="ipmi", power_address="10.0.0.1").policy.methods


def test_steps_are_merged_with_the_defaults() -> None:
    steps = {"power": {"timeout": "30"}, "image": {"silent": {"wipe": 1800}}, "confirm": {"fallback": "none"}}
    policy = of(supervise_steps=steps, supervise_entry_methods=["power"]).policy
    assert policy.methods == {"power": Method(30, 1)}
    assert policy.silent == {"any": 600, "wipe": 1800}
    assert (policy.confirm, policy.fallback, policy.retries) == (900, False, 1)


@pytest.mark.parametrize(
    ("variables", "text"),
    [
        ({"supervise_entry_methods": ["idle", "pray"]}, "n1: supervise_entry_methods pray: want one of idle, warm"),
        ({"supervise_entry_methods": ["idel"]}, "n1: supervise_entry_methods idel: did you mean idle?"),
        ({"supervise_steps": "power"}, "n1: supervise_steps: 'power': want a dictionary of idle, warm"),
        ({"supervise_steps": {"imaeg": {}}}, "n1: supervise_steps: imaeg: did you mean image?"),
        ({"supervise_steps": {"xyz": {}}}, "xyz: want one of idle, warm"),
        ({"supervise_steps": {"image": 5}}, "image: want a dictionary of silent, timeout"),
        ({"supervise_steps": {"power": {"retrys": 1}}}, "power: retrys: did you mean retries?"),
        ({"supervise_steps": {"power": {"timeout": 0}}}, "power.timeout 0: want seconds, more than 0"),
        ({"supervise_steps": {"warm": {"timeout": True}}}, "warm.timeout True: want seconds"),
        ({"supervise_steps": {"confirm": {"timeout": "inf"}}}, "confirm.timeout 'inf': want seconds"),
        ({"supervise_steps": {"confirm": {"fallback": "reset"}}}, "confirm.fallback reset: want cycle or none"),
        ({"supervise_steps": {"image": {"silent": {"wipes": 3}}}}, "'wipes' is not a step"),
        ({"power_driver": "ipmi", "power_cipher_suite": 5}, "cipher_suite"),
        ({"power_first": [{"address": "10.0.0.1"}]}, "missing required arguments: driver"),
        ({"power_window": {"nodes": 3}}, "missing required arguments: seconds"),
        ({"ansible_ssh_common_args": "-o 'x"}, "want words as in a shell"),
        ({"ansible_port": "ssh"}, "n1: invalid literal"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_its_name(variables: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        of(**variables)
    assert text in str(caught.value)


def test_controls_in_the_order_in_which_they_are_tried() -> None:
    one = of(
        power_first=[{"driver": "ssh", "address": "10.1.0.1", "ssh_arguments": ["-4"]}],
        power_driver="redfish",
        power_address="10.0.0.1",
        power_port="0",
        power_password_file="secrets/bmc",
        power_password_env="BMC",
        power_escalation=[{"driver": "wol", "networks": ["10.9.0.0/16"]}],
        power_networks=["10.0.0.0/24"],
        ansible_ssh_common_args="-o 'HostKeyAlias=a b'",
        power_window={"nodes": "8", "seconds": 5},
    )
    assert [control["driver"] for control in one.controls] == ["ssh", "redfish", "wol"]
    ssh, redfish, wol = one.controls
    assert [one["networks"] for one in (ssh, redfish, wol)] == [["10.0.0.0/24"], ["10.0.0.0/24"], ["10.9.0.0/16"]]
    assert ssh["ssh_arguments"] == ["-4", "-o", "HostKeyAlias=a b"]
    assert (redfish["address"], redfish["port"], redfish["password_env"]) == ("10.0.0.1", None, "BMC")
    assert not redfish["password_file"], "a password of the environment replaces the file"
    assert [control["driver"] for control in one.switched] == ["redfish"]
    assert [control["driver"] for control in one.woken] == ["wol"]
    assert one.window == {"nodes": 8, "seconds": 5.0, "file": None}


def test_what_follows_when_a_node_is_satisfied() -> None:
    assert of().last and of(sled_hook_after="").last and not of(sled_hook_after="after.yml").last
    assert (of().policy.verify, of(supervise_verify="none").policy.verify) == (120.0, 0.0)
    assert of(supervise_steps={"verify": {"timeout": 30}}).policy.verify == 30.0
    with pytest.raises(SettingsError, match="n1: supervise_steps: supervise_verify telnet: want ssh or none"):
        of(supervise_verify="telnet")


def test_where_sledc_is() -> None:
    assert of().sledc == "", "that of the collection"
    assert of(sled_dist="/opt/sled", supervise_sledc="").sledc == "/opt/sled/bin/sledc"
    assert of(sled_dist="/opt/sled", sled_sledc="/opt/arm64/sledc").sledc == "/opt/arm64/sledc"
    assert of(sled_sledc="/opt/arm64/sledc", supervise_sledc="mine").sledc == "mine"


def test_how_to_log_in(monkeypatch: pytest.MonkeyPatch) -> None:
    login = of(
        ansible_host="10.0.0.9",
        ansible_port=2222,
        ansible_user="ops",
        ansible_become="yes",
        ansible_ssh_private_key_file="key",
        ansible_ssh_common_args="-o StrictHostKeyChecking=yes",
        ansible_ssh_extra_args="-4",
    ).login
    assert login.argv()[:4] == ["ssh", "-o", "StrictHostKeyChecking=yes", "-4"]
    assert login.argv(["A=b"])[:5] == ["ssh", "-o", "A=b", "-o", "StrictHostKeyChecking=yes"]
    assert login.argv()[-6:] == ["-p", "2222", "-l", "ops", "-i", "key"]
    assert (login.address, login.become) == ("10.0.0.9", True)
    monkeypatch.setenv("HOME", "/home/ops")
    assert of(ansible_ssh_private_key_file="~/.ssh/key").login.key_file == "/home/ops/.ssh/key", "as Ansible reads it"
    with pytest.raises(SettingsError, match="ansible_connection local: warm starts and supervise_verify=ssh need"):
        of(ansible_connection="local").login.argv()
