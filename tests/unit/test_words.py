# SPDX-License-Identifier: Apache-2.0
"""contract/words/: every copy is generated and compared, and what cannot be generated agrees with the words."""

import functools
import importlib.util
import re
import shutil
import subprocess
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

TREE = Path(__file__).resolve().parents[2]

# The copies that hold all words of a list, and the key of a word. A copy that is no longer generated is missed here.
COPIES = {
    "phases": ("name", ["sledd/api/words.gen.go", "plugins/module_utils/words.py", "docs/concepts.md"]),
    "stages": (
        "name",
        [
            "sledd/api/words.gen.go",
            "sledd/internal/ctl/words.gen.go",
            "sledd/internal/page/page.html",
            "plugins/module_utils/words.py",
            "tools/summary.py",
            "bench/paths.py",
        ],
    ),
    "steps": (
        "verb",
        [
            "sledd/internal/plan/verbs.gen.go",
            "initrd/src/plan/steps.gen.h",
            "initrd/src/plan/plan.h",
            "contract/plan.md",
            "docs/concepts.md",
        ],
    ),
    "attributes": ("go", ["sledd/api/words.gen.go", "sledd/internal/ctl/words.gen.go"]),
    "codes": ("name", ["contract/exit-codes.md", "initrd/src/base/fault.h", "plugins/module_utils/words.py"]),
}
HELD = [(name, path) for name, (_, paths) in COPIES.items() for path in paths]


def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("words", TREE / "tools/words.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


words = tool()
VOCABULARY = words.load(TREE)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The generated files, and what they are made from."""
    root = tmp_path_factory.mktemp("words")
    for folder in ("contract/words", "tools/words"):
        shutil.copytree(TREE / folder, root / folder)
    for path in words.outputs(TREE):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TREE / path, root / path)
    subprocess.run(["git", "init", "-q", root], check=True, timeout=60)
    return root


@functools.cache
def texts(name: str) -> Any:
    """All words, files or blocks, rendered once."""
    if name == "load":
        return VOCABULARY
    return getattr(tool(), name)(TREE, words.environment(TREE), VOCABULARY)


@pytest.fixture
def rendered(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Templates are not rendered again: only copies change."""
    for name in ("load", "files", "blocks"):
        monkeypatch.setattr(words, name, lambda *_, name=name: texts(name))
    monkeypatch.setattr(words, "marked", functools.cache(words.marked))


def generated(path: str, text: str) -> list[tuple[int, int]]:
    """Where the generated parts of a file are."""
    found = [block.span("body") for block in words.BLOCK.finditer(text)]
    return [(0, len(text))] if (TREE / "tools/words/files" / f"{path}.j2").exists() else found


def places(path: str, text: str, word: str) -> list[tuple[int, int]]:
    """Where a word is in the generated parts of a file."""
    whole = re.compile(
        rf"(?<![\w-]){re.escape(word)}(?![\w-])|(?<=--){re.escape(word)}\b|(?<=\.s-){re.escape(word)}\b|\b{word}(?=_rules)"
    )
    spans = [place.span() for place in whole.finditer(text)]
    return [span for span in spans if any(begin <= span[0] < end for begin, end in generated(path, text))]


def names(name: str) -> list[str]:
    return [item[COPIES[name][0]] for item in VOCABULARY[name]]


def test_every_copy_is_as_generated() -> None:
    assert words.stale(TREE) == []


@pytest.mark.parametrize(("name", "path"), HELD)
@pytest.mark.usefixtures("rendered")
def test_a_word_removed_from_a_copy_is_noticed(copy: Path, name: str, path: str) -> None:
    whole = (copy / path).read_text(encoding="utf-8")
    assert words.stale(copy) == []
    try:
        for word in names(name):
            found = places(path, whole, word)
            assert found, f"{path} does not hold {word}"
            for begin, end in found:
                (copy / path).write_text(whole[:begin] + whole[end:], encoding="utf-8")
                assert words.stale(copy) == [path], f"{word} at {begin}"
    finally:
        (copy / path).write_text(whole, encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("phases", "discovered"),
        ("stages", "firmware"),
        ("steps", "rescue"),
        ("attributes", "KernelArguments"),
        ("codes", "network"),
    ],
)
def test_a_word_removed_from_the_words_makes_every_copy_stale(
    name: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, paths = COPIES[name]
    fewer = VOCABULARY | {name: [item for item in VOCABULARY[name] if item[key] != word]}
    monkeypatch.setattr(words, "load", lambda _: fewer)
    assert set(paths) <= set(words.stale(TREE))


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("steps", {"phase": "flying"}, "unknown phase"),
        ("steps", {"stage": "flying"}, "unknown phase, stage"),
        ("phases", {"only what differs": None}, "unknown key: only what differs"),
    ],
)
def test_a_slip_in_the_words_ends_the_run(
    copy: Path, name: str, change: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = words.yaml.safe_load

    def slipped(text: str) -> Any:
        found = read(text)
        if name in found:
            found[name][0] |= change
        return found

    monkeypatch.setattr(words.yaml, "safe_load", slipped)
    with pytest.raises(SystemExit, match=message):
        words.load(copy)


def test_a_mark_removed_is_noticed(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        words, "marked", lambda root: [path for path in tool().marked(root) if path != "contract/exit-codes.md"]
    )
    with pytest.raises(SystemExit, match="no file has the block codes-table"):
        words.stale(copy)


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
    plans = [
        path.read_bytes().decode(errors="replace") for path in (TREE / "contract/vectors/plan" / folder).glob("*.plan")
    ]
    return [line for plan in plans for line in plan.splitlines() if line.split(" ")[0] == verb]


@pytest.mark.parametrize("step", VOCABULARY["steps"], ids=lambda step: step["verb"])
def test_every_operand_has_a_vector(step: dict[str, Any]) -> None:
    accepted = vectors("ok", step["verb"])
    assert accepted
    assert [one["name"] for one in step["own"] if not any(f" {one['name']}=" in line for line in accepted)] == []
    assert not step["own"] or vectors("bad", step["verb"])
