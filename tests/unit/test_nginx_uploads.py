# SPDX-License-Identifier: Apache-2.0
"""The templates of role nginx, in a real nginx: several uploads of one captured disk, and the files of jobs."""

from __future__ import annotations

import contextlib
import http.client
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from ansible_collections.sled.fleet.tests.unit.front import Front, Sledd, front, render

__all__ = ["front"]

UPLOAD = "/upload/52-54-00-77-00-01-4.raw.zst"
STORED = re.compile(r"52-54-00-77-00-01-4-[0-9a-f]{32}\.raw\.zst")


class Put:
    """An upload that sends half of a file, and waits."""

    def __init__(self, front: Front, data: bytes, path: str = UPLOAD) -> None:
        self.data, self.link = data, front.connect_from("127.0.0.1")
        head = f"PUT {path} HTTP/1.1\r\nHost: sled\r\nAuthorization: Bearer good\r\nContent-Length: {len(data)}\r\n"
        self.link.sendall(f"{head}Expect: 100-continue\r\n\r\n".encode())
        assert self.link.recv(65536).startswith(b"HTTP/1.1 100 ")
        self.link.sendall(data[: len(data) // 2])

    def end(self) -> tuple[int, str]:
        """Sends the rest; returns the status and the name of the file in the answer."""
        self.link.sendall(self.data[len(self.data) // 2 :])
        head = self.link.recv(65536).decode()
        self.link.close()
        found = re.search(r"(?im)^location: (.*)\r$", head)
        return int(head.split()[1]), found[1].rpartition("/")[2] if found else ""


def stored(front: Front) -> dict[str, bytes]:
    """The files of uploads."""
    folder = front.directory / "images/captured"
    return {path.name: path.read_bytes() for path in folder.glob("52-54-00-77-00-01-4*")}


@pytest.mark.parametrize("front", [{}], indirect=True)
def test_an_upload_that_ends_late_changes_no_file(front: Front) -> None:
    late, first = Put(front, b"late" * 500), Put(front, b"first" * 500)
    status, name = first.end()
    before = stored(front)
    late.end()
    after = stored(front)
    assert {file: after[file] for file in before} == before, "the file may be registered by now"
    assert status == 201 and STORED.fullmatch(name) and before == {name: b"first" * 500}
    assert sorted(after.values()) == [b"first" * 500, b"late" * 500]


JOB = "1kq7d2g3r9qa"


def ask(connection: http.client.HTTPConnection, method: str, path: str, token: str = "good") -> int:
    """The status of an answer, whose body is read. A PUT sends its token."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    connection.request(method, path, token.encode() if method == "PUT" else None, headers)
    answer = connection.getresponse()
    answer.read()
    return answer.status


@pytest.mark.parametrize("front", [{}], indirect=True)
def test_files_of_jobs_are_put_by_the_word_of_sledd_alone(front: Front) -> None:
    Sledd.asked.clear()
    connection = front.encrypted()
    path, folder = f"/upload/jobs/{JOB}/", front.directory / "images/captured/jobs"
    for name in ("out.000001", "err.000001", "files.000001"):
        assert ask(connection, "PUT", path + name, "") == 401
        assert ask(connection, "PUT", path + name, "bad") == 403
        assert not folder.joinpath(JOB).exists()
    assert ask(connection, "PUT", path + "out.000001") == 201
    assert ask(connection, "PUT", path + "out.000001") == 204, "again"
    assert [(file.name, file.read_bytes(), file.stat().st_mode & 0o777) for file in folder.glob("*/*")] == [
        ("out.000001", b"good", 0o640)
    ]
    assert Sledd.asked[-1] == (f"/node/v1/jobs/{JOB}/out.000001", "good")
    wrong = ("out.1", "out.0000001", "in.000001", "artefacts.tar", "../x/out.000001", "%2e%2e/out.000001", "")
    for name in wrong:
        assert ask(connection, "PUT", path + name) in {404, 405}, name
    for method in ("GET", "DELETE"):
        assert ask(connection, method, path + "out.000001") in {403, 405}, method
    connection.close()


@pytest.mark.parametrize("front", [{}], indirect=True)
def test_a_full_filesystem_ends_an_upload(front: Front) -> None:
    captured = front.directory / "images/captured"
    before = sorted(captured.rglob("*"))
    front.fill()
    connection = front.encrypted()
    for path in (UPLOAD, f"/upload/jobs/{JOB}/out.000001"):
        assert ask(connection, "PUT", path) == 507, path
        assert ask(connection, "PUT", path, "bad") == 403, path
    assert sorted(captured.rglob("*")) == before
    front.stop_sledd()
    assert ask(front.encrypted(), "PUT", UPLOAD) == 503, "which is no reason to give up"
    connection.close()


@pytest.mark.parametrize("front", [{}], indirect=True)
def test_half_a_file_of_a_job_is_not_read(front: Front) -> None:
    name, operator = f"/v1/jobs/{JOB}/files/out.000001", front.encrypted()
    half = Put(front, b"x" * 5000, f"/upload/jobs/{JOB}/out.000001")
    assert ask(operator, "GET", name) == 404
    assert half.end()[0] == 201
    assert ask(operator, "GET", name) == 200
    operator.close()


@pytest.mark.parametrize("front", [{}, {"_nginx_apart": True, "_nginx_operator_listen": ["127.0.0.2:"]}], indirect=True)
def test_operators_alone_read_the_files_of_jobs(front: Front) -> None:
    file = front.directory / "images/captured/jobs" / JOB / "out.000001"
    file.parent.mkdir()
    file.write_bytes(b"<script>")
    operators = front.encrypted("127.0.0.2") if front.apart else front.encrypted()
    path = f"/v1/jobs/{JOB}/files/out.000001"
    assert [ask(operators, "GET", path, ""), ask(operators, "GET", path, "bad")] == [401, 403]
    operators.request("GET", path, headers={"Authorization": "Bearer good"})
    answer = operators.getresponse()
    assert answer.read() == b"<script>" and answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Type"] == "application/octet-stream"
    operators.close()
    for connection in (front.plain(), front.encrypted()):
        for other in (f"/images/captured/jobs/{JOB}/out.000001", f"/upload/jobs/{JOB}/out.000001"):
            assert ask(connection, "GET", other) in {403, 404, 405}, other
        assert not front.apart or ask(connection, "GET", path) == 404
        connection.close()


@pytest.mark.parametrize("front", [{"nginx_uploads": 1}], indirect=True)
def test_captured_disks_hold_up_no_output(front: Front) -> None:
    with contextlib.ExitStack() as ends:
        ends.callback(Put(front, b"x" * 5000).link.close)
        ends.callback(Put(front, b"x" * 5000, f"/upload/jobs/{JOB}/out.000001").link.close)
        connection = front.encrypted()
        assert ask(connection, "PUT", "/upload/jobs/1kq7d2g3r9qb/out.000001") == 429, "jobs have a limit, too"
        connection.close()


@pytest.mark.skipif(shutil.which("systemd-tmpfiles") is None, reason="no systemd")
def test_old_files_of_jobs_are_removed_and_no_others(tmp_path: Path) -> None:
    captured = tmp_path / "images/captured"
    for name in (f"jobs/{JOB}/out.000001", "52.raw.zst", ".part/1"):
        (captured / name).parent.mkdir(parents=True, exist_ok=True)
        (captured / name).write_text("old")
    for keep, left in {"30d": 3, "0": 2}.items():
        rules = tmp_path / "rules.conf"
        rules.write_text(render("etc/tmpfiles.d/sled-jobs.conf.j2", tmp_path, (1, 2), nginx_job_files_keep=keep))
        subprocess.run(["systemd-tmpfiles", "--clean", str(rules)], check=True, timeout=60)
        assert sum(path.is_file() for path in captured.rglob("*")) == left, keep
    assert list((captured / "jobs").iterdir()) == []
