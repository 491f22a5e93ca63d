# SPDX-License-Identifier: Apache-2.0
"""sledc tree: files below a folder, and none outside of it. $SLEDC is the build for tests. Prints TAP.

As root, whole steps on hostile filesystems: ../border.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tap import run_tests

SLEDC = os.environ["SLEDC"]
work = Path(tempfile.mkdtemp())
outside = work / "outside"
outside.mkdir()


def new() -> Path:
    return Path(tempfile.mkdtemp(dir=work))


def tree(action: str, root: Path, *words: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [SLEDC, "tree", action, root, *words]
    return subprocess.run(command, input=given, capture_output=True, check=False, timeout=60)


def done(action: str, root: Path, *words: str, given: bytes = b"") -> str:
    """What is printed by a command that works."""
    result = tree(action, root, *words, given=given)
    assert result.returncode == 0 and not result.stderr, result
    return result.stdout.decode()


def refused(code: int, words: bytes, action: str, root: Path, *operands: str) -> None:
    result = tree(action, root, *operands)
    assert result.returncode == code and words in result.stderr, result


def test_put_and_get() -> None:
    root = new()
    done("put", root, "/a/b/c", "0640", given=b"one")
    done("put", root, "a/b/c", "0604", given=b"two")
    assert done("get", root, "/a/b/../b/c") == "two" and (root / "a/b/c").stat().st_mode & 0o777 == 0o604
    assert [path.name for path in (root / "a/b").iterdir()] == ["c"]
    assert done("get", root, "/missing") == ""


def test_links_stay_below() -> None:
    root = new()
    (outside / "file").write_text("outside")
    (root / "up").symlink_to("../../../../../../../../.." + str(outside))
    (root / "there").symlink_to(outside)
    (root / "kernel").symlink_to("/proc/self/root")
    for name in ("up", "there", "kernel"):
        assert done("get", root, f"/{name}/file") == ""
        done("put", root, f"/{name}/{name}", "0644", given=b"inside")
        assert done("get", root, f"/{name}/{name}") == "inside"
    assert (outside / "file").read_text() == "outside" and os.listdir(outside) == ["file"]
    assert sorted(os.listdir(root / str(outside)[1:])) == ["there", "up"] and (root / "proc/self/root/kernel").is_file()
    refused(3, b"Too many levels", "get", looped(root), "/loop")
    refused(3, b"Too many levels", "put", root, "/loop/x", "0644")
    done("put", root, "/loop", "0644", given=b"instead")
    assert not (root / "loop").is_symlink()


def looped(root: Path) -> Path:
    (root / "loop").symlink_to("loop")
    return root


def test_links_that_make_links_end() -> None:
    root = new()
    for number in range(200):
        (root / f"l{number}").symlink_to(f"l{number + 1}/d")
    refused(3, b"Too many levels", "put", root, "/l0/x", "0644")
    refused(3, b"", "put", root, "/d" * 1900 + "/x", "0644")
    refused(3, b"File name too long", "put", root, "/" + "d" * 300, "0644")


def test_only_regular_files() -> None:
    root = new()
    os.mkfifo(root / "fifo")
    (root / "folder").mkdir()
    (root / "null").symlink_to("/dev/null")
    refused(3, b"/fifo of the installed system leads to a FIFO", "get", root, "/fifo")
    refused(3, b"leads to a folder", "get", root, "/folder")
    refused(3, b"Is a directory", "put", root, "/folder", "0644")
    refused(3, b"Is a directory", "remove", root, "/folder")
    done("put", root, "/fifo", "0644", given=b"x")
    assert (root / "fifo").read_text() == "x" and done("get", root, "/null") == ""
    with (root / "large").open("wb") as large:
        large.truncate((16 << 20) + 1)
    refused(3, b"more than 16777216 bytes", "get", root, "/large")


def test_names_and_files() -> None:
    root = new()
    for name in ("a/x1.efi", "b/x2.efi", "b/.x3.efi", "b/x4\n.efi", "c"):
        done("put", root, name, "0644")
    (root / "b/x0.efi").symlink_to("/nowhere")
    (root / "d").symlink_to("/b")
    assert done("files", root, "/*/x*.efi") == "/a/x1.efi\n/b/x2.efi\n/d/x2.efi\n"
    assert done("names", root, "/[b]/x*", "/c", "/c/x", "/e/*") == "/b/x0.efi\n/b/x2.efi\n/c\n"
    assert done("names", root, "/d" * 1900 + "/*") == ""
    done("remove", root, "/b/x*", "/d", "/missing", "/c/x")
    assert sorted(os.listdir(root)) == ["a", "b", "c"] and sorted(os.listdir(root / "b")) == [".x3.efi", "x4\n.efi"]


def test_folder_and_link() -> None:
    root = new()
    done("folder", root, "/a/b/", "0700")
    assert [(root / name).stat().st_mode & 0o777 for name in ("a", "a/b")] == [0o755, 0o700]
    for target in ("../x", "/y"):
        done("link", root, "/a/c/link", target)
        assert os.readlink(root / "a/c/link") == target
    done("put", root, "/file", "0644")
    refused(3, b"Not a directory", "folder", root, "/file", "0755")


def test_usage() -> None:
    root = new()
    for words in (["get"], ["put", "/a"], ["put", "/a", "0999"], ["put", "/a", "0644", "root"], ["other", "/a"]):
        result = tree(words[0], root, *words[1:])
        assert result.returncode == 2 and result.stderr.startswith(b"tree: "), result
    assert tree("get", root / "missing", "/a").returncode == 1 and os.listdir(root) == []


if __name__ == "__main__":
    sys.exit(run_tests(globals()))
