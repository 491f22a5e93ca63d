# SPDX-License-Identifier: Apache-2.0
"""The ignore files of ansible-test sanity, which `make test-collection` runs with each ansible-core."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IGNORES = sorted((ROOT / "tests/sanity").glob("ignore-*.txt"))


@pytest.mark.parametrize("ignore", IGNORES, ids=lambda path: path.stem)
def test_every_plugin_with_documentation_may_have_our_license(ignore: Path) -> None:
    """validate-modules accepts no license but the GPL; each of ours needs a line, and a line needs its file."""
    plugins = [
        path
        for kind in ("callback", "filter", "inventory", "modules")
        for path in (ROOT / "plugins" / kind).glob("[!_]*.py")
    ]
    listed = {line.split()[0] for line in ignore.read_text().splitlines() if "missing-gplv3-license" in line}
    assert listed == {str(path.relative_to(ROOT)) for path in plugins}


def test_each_core_has_its_ignore_file() -> None:
    cores = [line for line in (ROOT / "tests/collection/cores.txt").read_text().splitlines() if line[:1].isdigit()]
    assert [path.stem for path in IGNORES] == ["ignore-" + ".".join(core.split(".")[:2]) for core in cores]
