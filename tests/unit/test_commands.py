# SPDX-License-Identifier: Apache-2.0
"""molecule/shared/commands: what watches the command lines of all processes while the lab's tests run."""

import os
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

COMMANDS = Path(__file__).resolve().parents[2] / "molecule/shared/commands"
PATIENCE = 60  # seconds, on a busy machine


class Watch:
    def __init__(self, file: Path, process: subprocess.Popen[str]) -> None:
        self.file, self.process = file, process
        assert process.stderr
        self.output = process.stderr.readline()

    def text(self) -> str:
        return self.file.read_text(errors="replace")

    def wait_for(self, word: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while word not in self.text():
            assert time.monotonic() < deadline, f"{word} was not seen"
            time.sleep(0.01)

    def end(self) -> str:
        self.process.terminate()
        return self.process.communicate(timeout=PATIENCE)[1]


@contextmanager
def watching(folder: Path, **variables: str) -> Iterator[Watch]:
    file = folder / "commands"
    process = subprocess.Popen([COMMANDS, file], env=os.environ | variables, stderr=subprocess.PIPE, text=True)
    try:
        yield Watch(file, process)
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(params=["as it comes", "scanning"])
def watch(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Watch]:
    variables = {"SLED_NO_CONNECTOR": "1"} if request.param == "scanning" else {}
    with watching(tmp_path, **variables) as watch:
        yield watch


@contextmanager
def waiting(word: str) -> Iterator[None]:
    """A process with this word on its command line, which waits for input."""
    with subprocess.Popen(["cat", "-", word], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        yield
        process.kill()


def lasting(watch: Watch) -> None:
    """A process that waits until it is seen: what came before it has been seen by then, or never will be."""
    word = uuid.uuid4().hex
    with waiting(word):
        watch.wait_for(word)


def test_it_says_how_it_watches(watch: Watch) -> None:
    assert watch.output == "commands: by exec events\n" or "NO EXEC EVENTS HERE" in watch.output


def test_a_process_that_lasts_is_seen_with_its_arguments(watch: Watch) -> None:
    lasting(watch)


def test_each_command_line_is_written_once(watch: Watch) -> None:
    word = uuid.uuid4().hex
    with waiting(word), waiting(word):
        watch.wait_for(word)
        lasting(watch)
    assert watch.text().count(word) == 1


def test_what_runs_already_is_seen(tmp_path: Path) -> None:
    word = uuid.uuid4().hex
    with waiting(word), watching(tmp_path) as watch:
        watch.wait_for(word)


def test_a_process_of_20_ms_is_seen(tmp_path: Path) -> None:
    """Twenty of them in a row; every one, where there are exec events.

    Elsewhere the watch has to say that it may miss some.
    """
    words = [uuid.uuid4().hex for _ in range(20)]
    with watching(tmp_path) as watch:
        for word in words:
            subprocess.run(["sh", "-c", "sleep 0.02", word], check=True)
        lasting(watch)
        seen = [word in watch.text() for word in words]
        assert all(seen) or "may be missed" in watch.output
        assert "processes ended before their command line could be read" in watch.end()
