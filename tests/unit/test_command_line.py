# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from ansible_collections.sled.fleet.plugins.module_utils.command_line import shown


@pytest.mark.parametrize(
    ("given", "want"),
    [
        ("--limit n1,n2 -e image=v2", "--limit n1,n2 -e image=v2"),
        ("-e|image=v2 root=secret", "-e|image=v2 root=..."),
        ("-e|image='a b'", "-e|image='a b'"),
        ("-eroot=secret", "-eroot=..."),
        ("-ve root=secret -l n1", "-ve root=... -l n1"),
        ("--extra-vars=root=secret", "--extra-vars=root=..."),
        ("--extra|root=secret", "--extra|root=..."),
        ("--e|root=secret", "--e|root=..."),
        ("-e|secret", "-e|..."),
        ("-e|{root: secret}", "-e|... ..."),
        ("-e|root='secret", "-e|..."),
        ("-e|[1]", "-e|..."),
        ('-e|{"sled_rollout": {"batch": 2}, "root": "secret"}', '-e|{"sled_rollout": {"batch": 2}, "root": "..."}'),
        ("-e @vars.yml --check", "-e @vars.yml --check"),
        ("x " * 64, ""),
        ("x" * 1025, ""),
    ],
)
def test_others_see_no_secret(given: str, want: str) -> None:
    def words(text: str) -> list[str]:
        return text.split("|") if "|" in text else text.split()

    found = shown(["/usr/bin/ansible-playbook", "reimage.yml", *words(given)])
    assert found == (["ansible-playbook", "reimage.yml", *words(want)] if want else [])
