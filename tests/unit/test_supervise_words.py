# SPDX-License-Identifier: Apache-2.0
"""What the supervisor prints, and what it announces in check mode."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from ansible_collections.sled.fleet.plugins.action import rollout, waves
from ansible_collections.sled.fleet.plugins.action import supervise as action
from ansible_collections.sled.fleet.plugins.doc_fragments.supervisor import ModuleDocFragment
from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.options import API
from ansible_collections.sled.fleet.plugins.module_utils.supervise import core
from ansible_collections.sled.fleet.plugins.module_utils.supervise.core import State
from ansible_collections.sled.fleet.plugins.module_utils.supervise.lines import Lines
from ansible_collections.sled.fleet.plugins.module_utils.supervise.loop import Run
from ansible_collections.sled.fleet.plugins.module_utils.supervise.preview import preview
from ansible_collections.sled.fleet.plugins.module_utils.supervise.settings import Settings
from ansible_collections.sled.fleet.plugins.module_utils.supervise.stall import StallTimer
from ansible_collections.sled.fleet.plugins.module_utils.supervise.table import Table, table
from ansible_collections.sled.fleet.plugins.modules import rollout as rollout_module
from ansible_collections.sled.fleet.plugins.modules import supervise as supervise_module
from ansible_collections.sled.fleet.plugins.modules import waves as waves_module
from ansible_collections.sled.fleet.plugins.plugin_utils import supervisor
from ansible_collections.sled.fleet.tests.unit.test_supervise_core import POLICY


class Teller:
    """A wave of so many nodes, whose states are set by the test."""

    def __init__(self, count: int) -> None:
        self.said, self.clock = list[str](), 0.0
        self.runs = {f"n{i}": Run(Settings(f"n{i}", f"n{i}", POLICY), State(f"n{i}"), 0.0) for i in range(count)}
        self.lines = Lines(count, self.said.append, lambda: self.clock)

    def change(self, name: str, stage: str, **state: Any) -> None:
        run = self.runs[name]
        before, run.state = run.state, run.state._replace(stage=stage, **state)
        run.ended = self.clock if stage in core.ENDED else 0.0
        run.touched = run.touched or stage == core.ACTING
        self.lines.tell(run, before)


def test_one_line_a_change() -> None:
    few = Teller(3)
    few.change("n0", core.ACTING, method="power")
    few.change("n0", core.ENTERING)
    few.change("n0", core.ENTERING, spent=5.0)
    few.change("n0", core.CHOOSING, reason="power failed: no answer")
    few.change("n0", core.ACTING, method="wol")
    few.change("n0", core.IMAGING)
    few.change("n0", core.CONFIRMING)
    few.change("n0", core.ACTING, fallen="its disk", reason="silent 900 of 900 s")
    few.change("n0", core.CONFIRMING)
    few.clock = 61.4
    few.change("n0", core.DONE, reason="")
    few.change("n1", core.DONE, reason="", found=True)
    few.change("n2", core.FAILED, reason="write: code 5")
    assert few.said == [
        "n0: enters by power",
        "n0: is tried again: power failed: no answer",
        "n0: enters by wol",
        "n0: executes its plan",
        "n0: its system starts",
        "n0: is started from its disk: silent 900 of 900 s",
        "n0: done in 61 s, entered by wol",
        "n1: its binding is satisfied",
        "n2: failed: write: code 5",
    ]


WAITS = "waits until 23:18 for a rival (rival_time); `sledctl admit n0 CODE` ends it"


def test_a_wait_is_a_line_once_and_a_cell() -> None:
    few = Teller(1)
    few.change("n0", core.IMAGING)
    few.change("n0", core.IMAGING, waits=WAITS)
    few.change("n0", core.IMAGING, waits=WAITS, spent=5.0)
    few.runs["n0"].node = {"status": {"phase": "configuring"}}
    assert table(list(few.runs.values()), 70.0, 120, 24)[0] == f"n0  configuring  70 s  {WAITS}"
    few.change("n0", core.CONFIRMING, waits="")
    assert few.said == ["n0: executes its plan", f"n0: {WAITS}", "n0: its system starts"]


def test_of_many_nodes_that_wait_one_is_named() -> None:
    many = Teller(400)
    for name in many.runs:
        many.change(name, core.IMAGING, waits=WAITS if name != "n0" else "")
    many.clock = 12.0
    many.change("n0", core.IMAGING, waits=WAITS)
    assert many.said == [f"after 12 s, of 400 nodes: 400 imaging; 400 wait: n0 {WAITS}"]


def test_many_nodes_are_numbers_and_trouble() -> None:
    many = Teller(400)
    for name in many.runs:
        many.change(name, core.ACTING, method="power")
    assert many.said == []
    many.clock = 12.0
    for name in list(many.runs)[:300]:
        many.change(name, core.IMAGING)
    many.change("n0", core.FAILED, reason="write: code 5")
    many.clock = 23.0
    many.change("n300", core.IMAGING)
    many.clock = 40.0
    many.change("n301", core.IMAGING)
    many.change("n302", core.IMAGING)
    many.clock = 52.0
    many.change("n303", core.IMAGING)
    many.clock = 700.0
    for name in list(many.runs)[1:]:
        many.change(name, core.DONE)
    assert many.said == [
        "after 12 s, of 400 nodes: 1 imaging, 399 acting",
        "n0: failed: write: code 5",
        "after 23 s, of 400 nodes: 1 failed, 300 imaging, 99 acting",
        "after 40 s, of 400 nodes: 1 failed, 301 imaging, 98 acting",
        "after 700 s, of 400 nodes: 1 done, 1 failed, 302 imaging, 96 acting",
        "after 700 s, of 400 nodes: 399 done, 1 failed",
    ]


def writing(run: Run, done: int, silent: float = 0.0) -> None:
    status = {"phase": "writing", "verb": "write", "progress": {"bytes": done, "total": 200}}
    run.node = {"status": status}
    timer = StallTimer({"any": 600.0}, silent=silent)
    run.state = run.state._replace(stage=core.IMAGING, method="power", timer=timer)


def test_a_table_of_few_nodes_has_all_in_their_order() -> None:
    few = Teller(5)
    writing(few.runs["n0"], 50)
    writing(few.runs["n1"], 100, silent=44.0)
    few.change("n2", core.FAILED, reason="write: code 5 integrity: digest mismatch")
    few.change("n4", core.ENTERING, method="power")
    few.runs["n3"].ended = 61.4
    few.runs["n3"].state = few.runs["n3"].state._replace(stage=core.DONE, method="idle")
    assert table(list(few.runs.values()), 70.0, 80, 24) == [
        "n0  writing          25 %",
        "n1  writing          50 %  silent 44 of 600 s",
        "n2  failed           0 s   write: code 5 integrity: digest mismatch",
        "n3  done             61 s  idle",
        "n4  enters by power  70 s",
        "5 nodes: 1 done, 1 failed, 2 imaging, 1 entering",
    ]
    assert all(len(one) < 40 for one in table(list(few.runs.values()), 70.0, 40, 24))


def test_a_table_of_many_nodes_fits_the_terminal() -> None:
    many = Teller(400)
    for run in many.runs.values():
        writing(run, 20)
    many.change("n300", core.FAILED, reason="write: code 5")
    writing(many.runs["n200"], 20, silent=99.0)
    lines = table(list(many.runs.values()), 70.0, 80, 24)
    assert len(lines) == 21
    assert [lines[0].split()[0], lines[1].split()[0]] == ["n300", "n200"]
    assert lines[-2:] == ["... and 381 more", "400 nodes: 1 failed, 399 imaging"]


def test_a_table_is_drawn_over_the_last_one_below_the_trouble() -> None:
    few, clock, said = Teller(2), [0.0], list[str]()
    drawn, runs = Table(said.append, lambda: clock[0], 80, 24), list(few.runs.values())
    drawn.tick(runs)
    drawn.tick(runs)
    before, few.runs["n1"].state = few.runs["n1"].state, State("n1", core.FAILED, reason="write: code 5")
    drawn.tell(few.runs["n1"], before)
    drawn.note("n0: start it by hand")
    clock[0] = 2.0
    drawn.tick(runs)
    assert len(said) == 2, "once a second"
    assert said[1].startswith("\x1b[3F\x1b[Jn1: failed: write: code 5\nn0: start it by hand\nn0 ")
    for run in runs:
        run.state = run.state._replace(stage=core.DONE)
    drawn.tick(runs)
    clock[0] = 9.0
    drawn.tick(runs)
    assert len(said) == 3, "what has ended is drawn once"
    assert said[2] == "\x1b[3F\x1b[J2 nodes: 2 done, after 2 s", "the end at once, in a line"


def a_node(**binding: Any) -> Json:
    return {
        "disk": "serial:A",
        "binding": {"generation": 3, "satisfied": False, **binding},
        "status": {"phase": "operational", "generation": 2, "image": "v1"},
    }


@pytest.mark.parametrize(
    ("binding", "text"),
    [
        ({"image": "v2"}, "disk serial:A (wipe: empty)"),
        ({"image": "v2", "wipe": "clear", "disk": "wwn:B"}, "disk wwn:B (wipe: clear)"),
        ({"image": "v2", "mode": "delta"}, "disk serial:A (mode delta: nothing is wiped before it is written)"),
        ({"image": ""}, "all disks but those kept (wipe: empty)"),
        ({"capture": "golden"}, ""),
        ({"image": "v2", "memory": True}, ""),
    ],
)
def test_what_would_be_wiped_is_named(binding: Json, text: str) -> None:
    found = preview("n1", a_node(**binding))
    assert (found["state"], found["changed"], found["wipes"]) == ("pending", True, text)
    assert found["diff"]["before"] == "generation 2, image v1\n"
    after = found["diff"]["after"]
    assert after.startswith("generation 3, ") and (f"wipes {text}\n" in after if text else "wipes" not in after)
    assert "golden" in after or not binding.get("capture")
    assert ("runs from memory, its disk is left as it is\n" in after) == binding.get("memory", False)


def test_nothing_is_announced_for_a_node_that_has_it() -> None:
    found = preview("n1", {**a_node(image="v2", satisfied=True), "name": "n1"})
    assert found == {"state": "done", "reason": "", "changed": False, "image": "v2"}
    assert preview("n1", None)["reason"] == "node n1 does not exist"
    unbound = a_node()
    del unbound["binding"]
    assert preview("n1", unbound)["reason"] == "n1 has no binding"


def test_ansible_doc_has_each_option_and_each_result() -> None:
    fragment = yaml.safe_load(ModuleDocFragment.DOCUMENTATION)["options"]
    assert fragment.keys() == supervisor.SPEC.keys()
    documented = ((supervise_module, action.SPEC), (waves_module, waves.SPEC), (rollout_module, rollout.SPEC))
    for module, spec in documented:
        options = yaml.safe_load(module.DOCUMENTATION)["options"]
        assert options.keys() == spec.keys() - API.keys() - fragment.keys(), "the others are in fragments"
    returned = yaml.safe_load(supervise_module.RETURN)
    few = Teller(1)
    few.runs["n0"].node = a_node(image="v2")
    outcome = few.runs["n0"].outcome()
    result = action.report({"n0": outcome})
    assert result.keys() - {"changed", "failed", "msg"} == returned.keys()
    assert outcome.keys() | {"wipes"} == returned["nodes"]["contains"].keys()
