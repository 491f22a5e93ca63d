# SPDX-License-Identifier: Apache-2.0
"""The export of images for roots that stay at the boot server. No NFS server runs here."""

from __future__ import annotations

import jinja2
from ansible_collections.sled.fleet.tests.unit.front import ROOT


def test_the_export_is_for_the_nodes_alone() -> None:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ROOT / "roles/image/templates"),
        trim_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["comment"] = lambda text: f"# {text}"
    text = environment.get_template("etc/exports.d/sled.exports.j2").render(
        ansible_managed="test", image_directory="/srv/sled/images", image_nfs_clients=["10.77.0.0/24", "fd77::/64"]
    )
    options = "(ro,all_squash,no_subtree_check)"
    assert text == f"# test\n/srv/sled/images 10.77.0.0/24{options} fd77::/64{options}\n"
