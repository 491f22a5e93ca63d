# SPDX-License-Identifier: Apache-2.0
"""molecule/lab/side_by_side, which runs the stories of the lab."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

LAB = Path(__file__).resolve().parents[2] / "molecule/lab"
TESTS = LAB / "tests"
# Records the start and the end of a story. The file `bad` names those that fail.
COMMAND = [
    "sh",
    "-c",
    'echo "start $0" >>log; echo "said by $0"; ! grep -qsx "$0" bad; code=$?; echo "end $0" >>log; exit $code',
]


def run(folder: Path, *words: str, long: str = "") -> subprocess.CompletedProcess[str]:
    command = [str(LAB / "side_by_side"), *words]
    environment = os.environ | {"LONG": long}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False
    )


def stories(folder: Path, lanes: int, **listed: Any) -> str:
    (folder / "stories.yml").write_text(json.dumps({"lanes": lanes, "stories": listed}))
    return "stories.yml"


def planned(folder: Path, file: str) -> dict[str, tuple[int, int, int]]:
    """Lane, start and end of each story."""
    done = run(folder, "plan", file)
    assert done.returncode == 0, done.stdout + done.stderr
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    return {name: (int(lane), int(start), int(end)) for name, lane, start, end, *_ in rows}


def test_the_longest_way_goes_first(tmp_path: Path) -> None:
    file = stories(
        tmp_path,
        2,
        short={"seconds": 5},
        long={"seconds": 9},
        first={"seconds": 1},
        last={"seconds": 20, "after": ["first"]},
    )
    assert planned(tmp_path, file) == {"first": (1, 0, 1), "long": (2, 0, 9), "last": (1, 1, 21), "short": (2, 9, 14)}


def test_one_story_at_a_time_has_a_machine(tmp_path: Path) -> None:
    file = stories(tmp_path, 3, a={"seconds": 2, "machines": ["n1", "n2"]}, b={"seconds": 1, "machines": ["n2"]})
    assert planned(tmp_path, file) == {"a": (1, 0, 2), "b": (1, 2, 3)}


def test_alone_comes_last_and_in_the_order_of_the_file(tmp_path: Path) -> None:
    file = stories(
        tmp_path,
        3,
        x={"seconds": 1, "alone": True},
        y={"seconds": 8, "alone": True},
        a={"seconds": 2},
        b={"seconds": 3},
    )
    assert planned(tmp_path, file) == {"b": (1, 0, 3), "a": (2, 0, 2), "x": (1, 3, 4), "y": (1, 4, 12)}


def test_a_story_that_is_missing(tmp_path: Path) -> None:
    done = run(tmp_path, "plan", stories(tmp_path, 1, a={"seconds": 1, "after": ["b"]}))
    assert done.returncode != 0
    assert "no story is called b" in done.stderr


def test_it_runs_each_once_and_shows_what_it_said(tmp_path: Path) -> None:
    file = stories(tmp_path, 2, a={"seconds": 1, "after": ["b"]}, b={"seconds": 1}, c={"seconds": 1, "alone": True})
    done = run(tmp_path, "run", file, "logs", *COMMAND)
    assert done.returncode == 0, done.stdout + done.stderr
    log = (tmp_path / "log").read_text().splitlines()
    assert log == ["start b", "end b", "start a", "end a", "start c", "end c"]
    assert [done.stdout.count(f"said by {name}\n") for name in "abc"] == [1, 1, 1]
    assert (tmp_path / "logs/a.log").read_text() == "said by a\n"


def test_what_comes_after_a_failed_one_is_left_out(tmp_path: Path) -> None:
    file = stories(
        tmp_path,
        1,
        a={"seconds": 9},
        b={"seconds": 1, "after": ["a"]},
        c={"seconds": 1},
        d={"seconds": 1, "alone": True},
    )
    (tmp_path / "bad").write_text("a\n")
    done = run(tmp_path, "run", file, "logs", *COMMAND)
    assert done.returncode == 1
    assert "failed or left out: a, b, d" in done.stdout
    assert (tmp_path / "log").read_text().splitlines() == ["start a", "end a", "start c", "end c"]


def test_long_ones_run_when_they_are_asked_for(tmp_path: Path) -> None:
    file = stories(tmp_path, 1, a={"seconds": 1}, b={"seconds": 1, "after": ["a"], "long": True})
    assert set(planned(tmp_path, file)) == {"a"}
    assert "b " in run(tmp_path, "plan", file, long="1").stdout


def test_what_is_run_always_comes_after_nothing_long(tmp_path: Path) -> None:
    file = stories(tmp_path, 1, a={"seconds": 1, "long": True}, b={"seconds": 1, "after": ["a"]})
    done = run(tmp_path, "plan", file)
    assert done.returncode == 1 and "others come after a, which LONG=1 alone runs" in done.stderr


@pytest.fixture(scope="module")
def listed() -> dict[str, Any]:
    """The stories of the lab."""
    content: dict[str, dict[str, Any]] = yaml.safe_load((LAB / "stories.yml").read_text())
    return content["stories"]


@pytest.mark.parametrize("long", ["", "1"])
def test_the_stories_of_the_lab_can_be_run(tmp_path: Path, listed: dict[str, Any], long: str) -> None:
    done = run(tmp_path, "plan", str(LAB / "stories.yml"), long=long)
    assert done.returncode == 0, done.stderr
    expected = {name for name, story in listed.items() if long or not story.get("long")}
    assert {line.split()[0] for line in done.stdout.splitlines()[1:]} == expected


def test_every_playbook_is_run(listed: dict[str, Any]) -> None:
    faults = {
        Path(play["ansible.builtin.import_playbook"]).stem for play in yaml.safe_load((LAB / "faults.yml").read_text())
    }
    others = {"nodes_of"}  # of example.yml
    assert {file.stem for file in TESTS.glob("*.yml")} == set(listed) | faults | others


def test_the_order_of_stories_of_one_machine_is_given(listed: dict[str, Any], tmp_path: Path) -> None:
    def before(name: str) -> set[str]:
        return {first for one in listed[name].get("after", []) for first in {one} | before(one)}

    machines = {machine for story in listed.values() for machine in story.get("machines", [])}
    assert {"n1", "n2", "n3"} <= machines
    for machine in machines:
        on = [name for name, story in listed.items() if machine in story.get("machines", [])]
        assert sorted(len(before(name) & set(on)) for name in on) == list(range(len(on))), machine
