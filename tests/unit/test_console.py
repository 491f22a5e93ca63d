# SPDX-License-Identifier: Apache-2.0
"""The program that records consoles keeps no token, in whatever parts one arrives.

A password goes to the node's own service only, and to no address but those of power_networks.
"""

from __future__ import annotations

import json
import re
import runpy
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

FILES = Path(__file__).parents[2] / "roles/console/files"
PROGRAM = FILES / "sled-console"
SECRET = "0123456789abcdef" * 4
TEXT = f"Kernel command line: sled.token=sledb_525400770001_3_{SECRET} quiet\r\nsledo_{SECRET}\nclass sled\nlogin: "


@pytest.fixture
def record(tmp_path: Path) -> Iterator[Any]:
    opened = runpy.run_path(str(PROGRAM), run_name="sled_console")["Record"](tmp_path / "console.log", 1 << 20)
    yield opened
    opened.file.close()
    opened.lock.close()


def recorded(record: Any) -> str:
    """The file, without the times."""
    return re.sub(r"(?m)^[0-9TZ:-]{20} ", "", record.path.read_text())


@pytest.mark.parametrize("size", [1, 2, 3, 7, 30, 64, 4096])
def test_tokens_are_not_recorded(record: Any, size: int) -> None:
    data = TEXT.encode()
    for at in range(0, len(data), size):
        record.add(data[at : at + size])
    record.note("ended")
    wanted = "Kernel command line: sled.token=[token] quiet\n[token]\nclass sled\nlogin: \n--- sled-console: ended\n"
    assert recorded(record) == wanted


def test_text_that_ends_like_a_token_is_recorded(record: Any) -> None:
    record.add(b"it is sled")
    record.note("ended")
    assert recorded(record) == "it is sled\n--- sled-console: ended\n"


def test_little_is_held(record: Any) -> None:
    for _ in range(1000):
        record.add(b"sledb_" + b"a" * 100)
        assert len(record.held) < 512
    record.flush()
    assert "sledb_a" not in recorded(record)


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[str, str]]:
    """Runs the service of a node until it has recorded something; returns its record and what ipmitool got."""
    tool, got = tmp_path / "ipmitool", tmp_path / "got"
    tool.write_text(f'#!/bin/sh\n{{ echo "$@"; cat "$4"; }} >>{got}\n', encoding="utf-8")
    tool.chmod(0o755)
    for name, value in {"PATH": f"{tmp_path}:/usr/bin:/bin", "BYTES": "1000", "DIRECTORY": str(tmp_path)}.items():
        monkeypatch.setenv(name if name == "PATH" else f"SLED_CONSOLE_{name}", value)

    def run(address: str, networks: list[str] | None) -> tuple[str, str]:
        settings = {"mac": "52:54:00:77:00:01", "address": address, "networks": networks, "password": "s3cret"}
        settings |= {"before": [], "command": ["ipmitool", "-H", "@ADDRESS@", "-f", "@PASSWORD@"]}
        file, record = tmp_path / "settings", tmp_path / "52-54-00-77-00-01.log"
        file.write_text(json.dumps(settings), encoding="utf-8")
        process = subprocess.Popen([sys.executable, str(PROGRAM), str(file)])
        end = time.monotonic() + 20
        while not (record.exists() and record.stat().st_size) and time.monotonic() < end:
            time.sleep(0.02)
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        return record.read_text(encoding="utf-8"), got.read_text(encoding="utf-8") if got.exists() else ""

    return run


def test_a_password_goes_to_an_address_that_is_allowed(service: Callable[..., tuple[str, str]]) -> None:
    record, got = service("localhost", ["10.30.0.0/24", "127.0.0.0/8", "::1"])
    assert re.fullmatch(r"-H (127\.0\.0\.1|::1) -f /dev/fd/\d+\ns3cret\n", got)
    assert "ipmitool ended with code 0" in record


@pytest.mark.parametrize(
    ("address", "networks", "words"),
    [
        ("127.0.0.1", ["10.30.0.0/24"], "not sent to 127.0.0.1, which is in none of power_networks (10.30.0.0/24)"),
        ("2130706433", ["10.30.0.0/24"], "not sent to 127.0.0.1"),
        ("127.0.0.1", [], "in none of power_networks ()"),
        ("127.0.0.1", ["127.0.0.1/8"], "has host bits set: want networks such as 10.30.0.0/24"),
        ("", ["10.30.0.0/24"], "check power_address"),
    ],
)
def test_a_password_goes_nowhere_else(
    service: Callable[..., tuple[str, str]], address: str, networks: list[str], words: str
) -> None:
    record, got = service(address, networks)
    assert words in record and not got


def test_a_command_of_the_operator_has_no_address(service: Callable[..., tuple[str, str]]) -> None:
    assert service("127.0.0.1", None)[1].startswith("-H  -f")


@pytest.fixture
def units(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, Any]], tuple[str, list[str]]]:
    """Runs the program that keeps the units, with a systemctl that enables by links; returns its output and calls."""
    wants, said = tmp_path / "etc/systemd/system/multi-user.target.wants", tmp_path / "said"
    wants.mkdir(parents=True)
    program = tmp_path / "systemctl"
    program.write_text(
        f"""#!/bin/sh
echo "$@" >>{said}
case $2 in
enable) ln -s /x {wants}/$4 ;;
disable) rm {wants}/$4 ;;
esac
""",
        encoding="utf-8",
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def run(settings: dict[str, Any]) -> tuple[str, list[str]]:
        said.write_text("", encoding="utf-8")
        command = [sys.executable, str(FILES / "units"), str(tmp_path)]
        text = json.dumps(settings)
        done = subprocess.run(command, input=text, text=True, capture_output=True, timeout=60, check=True)
        return done.stdout, said.read_text(encoding="utf-8").splitlines()

    return run


def test_each_unit_has_the_password_of_its_node_only(
    units: Callable[[dict[str, Any]], tuple[str, list[str]]], tmp_path: Path
) -> None:
    files = tmp_path / "etc/sled/consoles"
    settings = {name: {"mac": name, "password": f"secret of {name}"} for name in ("n1", "n2")}
    printed, said = units(settings)
    assert printed and said == [f"--quiet enable --now sled-console@{name}.service" for name in ("n1", "n2")]
    assert {file.name: json.loads(file.read_text()) for file in files.iterdir()} == {
        f"{name}.json": one for name, one in settings.items()
    }
    assert {file.stat().st_mode & 0o777 for file in files.iterdir()} == {0o600}
    assert units(settings) == ("", [f"--quiet is-active sled-console@{name}.service" for name in ("n1", "n2")])
    settings["n1"]["password"] = "another"
    printed, said = units({"n1": settings["n1"]})
    assert printed and "--quiet restart sled-console@n1.service" in said
    assert "--quiet disable --now sled-console@n2.service" in said
    assert [file.name for file in files.iterdir()] == ["n1.json"], "the password of a node that is gone is gone"
    unit = (FILES.parent / "templates/etc/systemd/system/sled-console@.service.j2").read_text(encoding="utf-8")
    assert "\nLoadCredential=console:/etc/sled/consoles/%i.json\n" in unit and unit.count("LoadCredential=") == 1
