# SPDX-License-Identifier: Apache-2.0
"""tools/stages: the order of stages, and what happens when one fails."""

import os
import subprocess
from pathlib import Path

STAGES = Path(__file__).resolve().parents[2] / "tools" / "stages"
# `meet` and `other` end only side by side: each waits for the other's file. `bad` fails once the stages named in AFTER
# have begun, and those, `slow1` and the like, end after that failure.
MAKEFILE = """
meet: ; @touch meet; until [ -e other ]; do sleep 0.01; done; echo met
other: ; @touch other; until [ -e meet ]; do sleep 0.01; done; echo here
bad: ; @for one in $(AFTER); do until [ -e $$one ]; do sleep 0.01; done; done; echo oops; exit 1
slow%: ; @touch $@; until ls $$TMPDIR/*/failed >/dev/null 2>&1; do sleep 0.01; done; echo ended
late: ; @touch late
busy: ; @python3 -c 'import time; any(iter(lambda: time.process_time() > 1, True))'
idle: ; @sleep 1
.PHONY: meet other bad late busy idle
"""


def stages(folder: Path, *names: str, after: str = "") -> subprocess.CompletedProcess[str]:
    (folder / "Makefile").write_text(MAKEFILE)
    (folder / "tmp").mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    environment |= {"AFTER": after, "TMPDIR": str(folder / "tmp")}
    return subprocess.run(
        [STAGES, *names], cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False
    )


def rows(output: str) -> list[list[str]]:
    """The stages of the table at the end, each with its last word."""
    return [[line.split()[0], line.split()[-1]] for line in table(output) if not line.startswith(" ")]


def table(output: str) -> list[str]:
    return output[output.index("stage, seconds:") :].split("\nwhat failed:", maxsplit=1)[0].splitlines()[1:]


def parts(output: str) -> dict[str, list[int]]:
    """Wall and CPU seconds of each name of a stage that has several."""
    rows = (line.split() for line in table(output) if line.startswith(" "))
    return {name: [int(number) for number in numbers] for name, *numbers in rows}


def test_names_joined_by_plus_run_side_by_side(tmp_path: Path) -> None:
    done = stages(tmp_path, "meet+other", "late")
    assert done.returncode == 0, done.stderr
    # The output of the first is not held back, so it may come between two lines of another.
    assert done.stdout.index("== other") < done.stdout.index("here") < done.stdout.index("== late")
    assert [name for name, _ in rows(done.stdout)] == ["meet+other", "late"]


def test_a_failure_ends_the_run(tmp_path: Path) -> None:
    done = stages(tmp_path, "bad", "late")
    assert done.returncode != 0
    assert "stages: bad failed" in done.stderr
    assert rows(done.stdout) == [["bad", "failed"]]
    assert not (tmp_path / "late").exists()


def test_a_failure_lets_end_what_runs_and_starts_nothing(tmp_path: Path) -> None:
    slow = [f"slow{number}" for number in range(len(os.sched_getaffinity(0)) + 1)]
    done = stages(tmp_path, "+".join(["bad", *slow, "late"]), after=" ".join(slow))
    assert done.returncode != 0
    assert done.stdout.count("ended") == len(slow)
    assert not (tmp_path / "late").exists()


def test_each_name_of_a_stage_has_its_wall_and_cpu_time(tmp_path: Path) -> None:
    done = stages(tmp_path, "idle+busy", "late")
    assert [name for name, _ in rows(done.stdout)] == ["idle+busy", "late"]
    (idle_wall, idle_cpu), (_, busy_cpu) = parts(done.stdout)["idle"], parts(done.stdout)["busy"]
    assert idle_wall >= 1
    assert idle_cpu == 0
    assert busy_cpu >= 1


def test_a_name_that_failed_has_its_figures(tmp_path: Path) -> None:
    done = stages(tmp_path, "bad+late")
    assert "bad" in parts(done.stdout)


def test_why_names_failed_is_said_last(tmp_path: Path) -> None:
    """Whoever sees only the end of a long log learns the cause."""
    done = stages(tmp_path, "bad+slow1", after="slow1")
    last = done.stdout.split("\nwhat failed:")[1]
    assert "\nbad:\n" in last
    assert "Error 1" in last
    assert "slow1" not in last


def test_why_a_task_failed_is_found_in_a_log_with_colours(tmp_path: Path) -> None:
    log = tmp_path / "log"
    noise = "\x1b[32mok: [boot]\x1b[0m\n" * 100
    log.write_text(f"{noise}  \x1b[2m│\x1b[0m fatal: [boot]: FAILED! => the port is closed\n{noise}")
    found = subprocess.run([STAGES.parent / "failures", log], capture_output=True, text=True, check=True, timeout=10)
    assert found.stdout.startswith("fatal: [boot]: FAILED! => the port is closed\n")
    assert len(found.stdout.splitlines()) < 20


def test_what_a_test_saw_that_waited_in_vain(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("ok 1 - a\nnot ok - TimeoutError('waited')\n" + "# it boots\n" * 100 + "# it hangs\n")
    found = subprocess.run([STAGES.parent / "failures", log], capture_output=True, text=True, check=True, timeout=10)
    lines = found.stdout.splitlines()
    assert lines[0].startswith("not ok") and lines[-1] == "# it hangs" and len(lines) < 40
