# SPDX-License-Identifier: Apache-2.0
"""contract/words/: every copy is generated and compared, and what cannot be generated agrees with the words."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ansible_collections.sled.fleet.contract.vectors import cases
from ansible_collections.sled.fleet.tests.unit.vocabulary import KEY, TREE, Item, Outputs, all_fewer, names, tool, words

OUTPUTS = Outputs()
HELD = sorted(OUTPUTS.poorer)  # each list, and each file that has words of it

# Sources in which no list may be typed by hand; and how many of its words, in how many lines, are a list.
SOURCES = (
    "bench",
    "initrd/lib",
    "initrd/src",
    "lab",
    "playbooks",
    "plugins",
    "roles",
    "sledd",
    "terraform-provider",
    "tools",
)
SUFFIXES = (".c", ".go", ".h", ".html", ".py", ".sh", ".yml")
SHARE, LINES = 0.8, 12
# The attributes of images where each is more than a value: a module call of the role.
BY_HAND = ["roles/image/tasks/publish.yml: image_attributes"]

# The copies of the settings of sledd. Not every setting has a variable of the role, so they are tested apart.
SETTINGS = [
    "roles/sledd/defaults/main.yml",
    "roles/sledd/meta/argument_specs.yml",
    "roles/sledd/templates/etc/sled/sledd.env.j2",
    "sledd/cmd/sledd/settings.gen.go",
]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The generated files, and what they are made from."""
    root = tmp_path_factory.mktemp("words")
    for folder in ("contract/words", "tools/words"):
        shutil.copytree(TREE / folder, root / folder)
    for path, text in OUTPUTS.whole.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    subprocess.run(["git", "init", "-q", root], check=True, timeout=60)
    return root


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The generator of the copy. Its templates are rendered once: only copies change."""
    fresh = OUTPUTS.tool
    for name in ("files", "blocks"):
        made = getattr(fresh, name)(TREE, OUTPUTS.templates, words())
        monkeypatch.setattr(fresh, name, lambda *_, made=made: made)
    monkeypatch.setattr(fresh, "load", lambda _: words())
    monkeypatch.setattr(fresh, "marked", lambda _: list(OUTPUTS.marked))
    return fresh


def test_every_copy_is_as_generated() -> None:
    assert tool().stale(TREE) == []


def test_every_list_has_copies_and_every_copy_a_list() -> None:
    assert {path for _, path in HELD}.isdisjoint(SETTINGS)
    assert {path for _, path in HELD} | set(SETTINGS) == set(OUTPUTS.whole)
    for name, word, _ in all_fewer():
        holders = [path for listed, path in HELD if listed == name and word in OUTPUTS.poorer[name, path]]
        assert len(holders) > 1, f"{name}: {word} is only in {holders}"


@pytest.mark.parametrize("path", sorted({path for _, path in HELD}))
def test_a_word_removed_from_a_copy_is_noticed(copy: Path, path: str, generator: Any) -> None:
    assert generator.stale(copy) == []
    try:
        for name in {name for name, held in HELD if held == path}:
            word, poorer = next(iter(OUTPUTS.poorer[name, path].items()))
            (copy / path).write_text(poorer, encoding="utf-8")
            assert generator.stale(copy) == [path], word
    finally:
        (copy / path).write_text(OUTPUTS.whole[path], encoding="utf-8")


@pytest.mark.parametrize("name", sorted({name for name, _ in HELD}))
def test_a_word_removed_from_the_words_makes_every_copy_stale(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    word, fewer = next((word, fewer) for listed, word, fewer in all_fewer() if listed == name)
    fresh = tool()
    monkeypatch.setattr(fresh, "load", lambda _: fewer)
    held = [path for listed, path in HELD if listed == name and word in OUTPUTS.poorer[name, path]]
    assert sorted(fresh.stale(TREE)) == held


def test_a_setting_removed_makes_its_copies_stale(monkeypatch: pytest.MonkeyPatch) -> None:
    fewer = words() | {"settings": [one for one in words()["settings"] if one["name"] != "watchdog"]}
    fresh = tool()
    monkeypatch.setattr(fresh, "load", lambda _: fewer)
    assert sorted(fresh.stale(TREE)) == SETTINGS


def lists(text: str) -> Iterator[str]:
    """The lists that a text types by hand: most of their words within a few lines."""
    lines = [set(re.findall(r"[\w-]+", line)) for line in text.splitlines()]
    for name in KEY:
        near = [{word for word in names(name) if set(word.split()) <= line} for line in lines]
        if any(len(set().union(*near[at : at + LINES])) >= SHARE * len(names(name)) for at in range(len(near))):
            yield name


def test_no_source_types_a_list_by_hand() -> None:
    listed = subprocess.run(["git", "-C", TREE, "ls-files", *SOURCES], capture_output=True, text=True, check=True)
    typed = []
    for path in listed.stdout.splitlines():
        whole = (TREE / "tools/words/files" / f"{path}.j2").exists()
        if path.endswith(SUFFIXES) and "test" not in path and not whole:
            own = OUTPUTS.tool.BLOCK.sub("", (TREE / path).read_text(encoding="utf-8"))
            typed += [f"{path}: {name}" for name in lists(own)]
    assert typed == BY_HAND


def test_the_role_registers_an_image_with_every_attribute() -> None:
    text = (TREE / "roles/image/tasks/publish.yml").read_text(encoding="utf-8")
    call = next(task["sled.fleet.image"] for task in yaml.safe_load(text) if "sled.fleet.image" in task)
    assert set(names("image_attributes")) - set(call) == {"statement", "signature"}  # the module makes these
    specs = yaml.safe_load((TREE / "roles/image/meta/argument_specs.yml").read_text(encoding="utf-8"))
    options = specs["argument_specs"]["main"]["options"]["image_list"]["options"]
    assert set(re.findall(r"\bitem\.item\.(\w+)", text)) <= set(options)


def test_a_list_typed_by_hand_is_found() -> None:
    assert list(lists("codes = [\n" + "\n".join(repr(name) for name in names("codes")[1:]) + "]")) == ["codes"]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("steps", {"phase": "flying"}, "unknown phase"),
        ("steps", {"stage": "flying"}, "unknown phase, stage"),
        ("phases", {"only what differs": None}, "unknown key: only what differs"),
    ],
)
def test_a_slip_in_the_words_ends_the_run(
    copy: Path, name: str, change: Item, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = tool()
    read = fresh.yaml.safe_load

    def slipped(text: str) -> Any:
        loaded = read(text)
        if name in loaded:
            loaded[name][0] |= change
        return loaded

    monkeypatch.setattr(fresh.yaml, "safe_load", slipped)
    with pytest.raises(SystemExit, match=message):
        fresh.load(copy)


def test_a_mark_removed_is_noticed(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = tool()
    marked = [path for path in fresh.marked(TREE) if path != "contract/exit-codes.md"]
    monkeypatch.setattr(fresh, "marked", lambda _: marked)
    with pytest.raises(SystemExit, match="no file has the block codes-table"):
        fresh.stale(copy)


# What cannot be generated.


def functions() -> dict[str, str]:
    """The functions step_VERB of the Sled system, and what they begin with."""
    libraries = "\n".join(path.read_text(encoding="utf-8") for path in sorted((TREE / "initrd/lib").glob("*.sh")))
    return dict(re.findall(r"^step_(\w+)\(\) \{(.*)", libraries, re.M))


def test_every_verb_is_done_by_the_sled_system() -> None:
    assert set(functions()) == set(names("steps"))


def test_verbs_that_sledc_does_are_verbs_of_sledc() -> None:
    own = set(re.findall(r'^\t\{"([a-z-]+)", "', (TREE / "initrd/src/main.c").read_text(encoding="utf-8"), re.M))
    left = {verb for verb, body in functions().items() if 'sledc "$@"' in body}
    assert left and left <= own


def vectors(folder: str, verb: str) -> list[str]:
    """The lines of vectors that are this step."""
    plans = [text.decode(errors="replace") for text in cases.read(f"plan/{folder}").values()]
    return [line for plan in plans for line in plan.splitlines() if line.split(" ")[0] == verb]


@pytest.mark.parametrize("step", words()["steps"], ids=lambda step: step["verb"])
def test_every_operand_has_a_vector(step: Item) -> None:
    accepted = vectors("ok", step["verb"])
    assert accepted
    assert [one["name"] for one in step["own"] if not any(f" {one['name']}=" in line for line in accepted)] == []
    assert not step["own"] or vectors("bad", step["verb"])
