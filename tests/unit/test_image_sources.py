# SPDX-License-Identifier: Apache-2.0
"""Which sources of images role image refuses: those that somebody on the way could exchange before they are signed."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

VARIABLES = Path(__file__).resolve().parents[2] / "roles/image/vars/main.yml"
HASH = "8f" * 32


@pytest.mark.parametrize(
    ("source", "checksum", "refused"),
    [
        ("http://a/x.qcow2", None, True),
        ("HTTP://a/x.qcow2", None, True),
        ("http://a/x.qcow2", f"md5:{'8f' * 16}", True),
        ("http://a/x.qcow2", f"sha1:{'8f' * 20}", True),
        ("http://a/x.qcow2", "sha256:http://a/SHA256SUMS", True),
        ("http://a/x.qcow2", "sha256:8f", True),
        ("http://a/x.qcow2", f"sha256:{HASH}", False),
        ("http://a/x.qcow2", f"sha512:{HASH * 2}", False),
        ("http://a/x.qcow2", "sha256:https://a/SHA256SUMS", False),
        ("https://a/x.qcow2", None, False),
        ("/srv/x.qcow2", None, False),
        (None, None, False),
    ],
)
def test_sources_without_a_checksum(source: str | None, checksum: str | None, refused: bool) -> None:
    image = {"name": "x", "source": source, "checksum": checksum}
    images = [{"name": "built"}, {key: value for key, value in image.items() if value is not None}]
    expression = yaml.safe_load(VARIABLES.read_text())["_image_unchecked"]
    templar = Templar(loader=DataLoader(), variables={"image_list": images})
    assert templar.template(trust_as_template(expression)) == ([source] if refused else [])


def test_container_images_are_no_disks() -> None:
    good = [{"name": "built"}, {"name": "disk", "kind": "disk"}, {"name": "kernel", "kind": "kernel", "source": "/k"}]
    good += [{"name": "root", "kind": "root"}, {"name": "oci", "kind": "root", "oci": "r/i:1"}]
    good += [{"name": "k", "kind": "kernel", "oci": "r/i"}]
    bad = [{"name": "d", "oci": "r/i"}, {"name": "e", "kind": "disk", "oci": "r/i"}]
    expression = yaml.safe_load(VARIABLES.read_text())["_image_contained"]
    templar = Templar(loader=DataLoader(), variables={"image_list": good + bad})
    assert sorted(templar.template(trust_as_template(expression))) == ["d", "e"]
