# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import base64
import re
import subprocess
import threading
from collections.abc import Callable
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.sled.fleet.contract.reader import signing as contract
from ansible_collections.sled.fleet.plugins.module_utils import imagefile, signing
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SettingsError
from ansible_collections.sled.fleet.plugins.modules import image
from ansible_collections.sled.fleet.tests.unit.double import Sledd
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

Run = Callable[..., Json]
DIGEST = "sha256:" + "5e" * 32


def openssl(*command: str | Path) -> None:
    subprocess.run(["openssl", *command], check=True, capture_output=True, timeout=30)


def make_key(folder: Path, name: str = "image", kind: str = "ed25519") -> str:
    """A key as the role image makes it."""
    options = ["-pkeyopt", "ec_paramgen_curve:P-256"] if kind == "EC" else []
    openssl("genpkey", "-algorithm", kind, *options, "-out", folder / f"{name}.key")
    openssl("pkey", "-in", folder / f"{name}.key", "-pubout", "-out", folder / f"{name}.pub")
    return str(folder / f"{name}.key")


VECTORS = Path(__file__).parents[2] / "contract/vectors/image"
GAPS = VECTORS / "ok/gaps.raw.zst"
NOW = datetime(2026, 11, 23, 15, 50, tzinfo=timezone.utc)
STATEMENT = f"image 2 name=d12-v1 line=d12 signed=2026-11-23T15:50:00Z digest={DIGEST}"


def verify(folder: Path, statement: str, signature: str, key: str = "image") -> None:
    """By openssl."""
    (folder / "signature").write_bytes(base64.b64decode(signature))
    (folder / "signed").write_text(statement)
    files: list[str | Path] = [
        "-inkey",
        folder / f"{key}.pub",
        "-sigfile",
        folder / "signature",
        "-in",
        folder / "signed",
    ]
    openssl("pkeyutl", "-verify", "-pubin", "-rawin", *files)


def test_another_implementation_accepts_the_signature(tmp_path: Path) -> None:
    signature = signing.sign(make_key(tmp_path), STATEMENT)
    verify(tmp_path, STATEMENT, signature)
    with pytest.raises(subprocess.CalledProcessError):
        verify(tmp_path, STATEMENT.replace("d12-v1", "d12-v2"), signature)


def test_the_statement_is_that_of_the_contract(tmp_path: Path) -> None:
    assert signing.statement_of("d12-v1", signing.line_of("d12-v1"), DIGEST, NOW) == STATEMENT
    keys = [load_pem_public_key(Path(make_key(tmp_path)).with_suffix(".pub").read_bytes())]
    claim = contract.Claim("d12-v1", DIGEST, STATEMENT, signing.sign(str(tmp_path / "image.key"), STATEMENT))
    contract.check(claim, [key for key in keys if isinstance(key, Ed25519PublicKey)])
    for name, line in {
        "debian-12-v7": "debian-12",
        "debian-12-v7.1.2": "debian-12",
        "debian-12": "debian-12",
        "a-v1-v2": "a-v1",
        "a-v": "a-v",
        "a-v1x": "a-v1x",
        "v7": "v7",
        "a-v.1": "a-v.1",
    }.items():
        assert signing.line_of(name) == line
    with pytest.raises(SettingsError, match="is not the name of an image"):
        signing.statement_of("d12-v1", "D12", DIGEST, NOW)
    with pytest.raises(SettingsError, match="64 hexadecimal digits"):
        signing.statement_of("d12-v1", "d12", DIGEST.upper(), NOW)


def test_what_cannot_sign_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_key(tmp_path)
    with pytest.raises(SettingsError, match="No such file"):
        signing.sign(str(tmp_path / "none"), STATEMENT)
    with pytest.raises(SettingsError, match=r"image\.pub: "):
        signing.sign(str(tmp_path / "image.pub"), STATEMENT)
    with pytest.raises(SettingsError, match="is not an Ed25519 key"):
        signing.sign(make_key(tmp_path, "other", "EC"), STATEMENT)
    monkeypatch.setattr(signing, "HAVE_CRYPTOGRAPHY", False)
    with pytest.raises(SettingsError, match="cryptography"):
        signing.sign(str(tmp_path / "image.key"), STATEMENT)


def gaps() -> Json:
    """An image as registered, without a signature."""
    content = imagefile.read_file(str(GAPS))
    sizes = {name: content[name] for name in ("digest", "bytes", "used_bytes", "file_bytes")}
    return {"name": "gaps-v1", "urls": ["http://127.0.0.1:1/images/gaps.raw.zst"], **sizes}


def test_a_registered_image_is_signed_later_and_by_another_key(sledd: Sledd, module: Run, tmp_path: Path) -> None:
    old, new = make_key(tmp_path, "old"), make_key(tmp_path, "new")
    stored = sledd.objects["images"]
    assert "signature" not in module(image, **gaps())["image"]
    assert module(image, name="gaps-v1", key=old, file=str(GAPS), check=True)["changed"]
    assert "signature" not in stored["gaps-v1"]
    first = module(image, name="gaps-v1", key=old, file=str(GAPS))
    assert [one["content"] for one in first["content"]["partitions"]] == ["ext4", "xfs"]
    verify(tmp_path, stored["gaps-v1"]["statement"], stored["gaps-v1"]["signature"], "old")
    assert re.match("image 2 name=gaps-v1 line=gaps signed=20", stored["gaps-v1"]["statement"])
    assert not module(image, name="gaps-v1", key=old)["changed"]  # without a look at the file, which is not needed
    assert not module(image, **gaps())["changed"]
    assert module(image, name="gaps-v1", key=old, line="other", file=str(GAPS))["changed"]
    assert " line=other " in stored["gaps-v1"]["statement"]
    assert module(image, name="gaps-v1", key=new, file=str(GAPS))["changed"]
    verify(tmp_path, stored["gaps-v1"]["statement"], stored["gaps-v1"]["signature"], "new")
    assert "mutually exclusive" in module(image, name="gaps-v1", key=new, signature="x")["msg"]
    assert "No such file" in module(image, name="gaps-v1", key="/none")["msg"]


def test_the_kind_that_is_signed_is_that_of_the_file(module: Run, tmp_path: Path) -> None:
    key, file = make_key(tmp_path), str(VECTORS / "ok/one_partition.raw.zst")
    content = imagefile.read_file(file)
    spec = {name: content[name] for name in ("digest", "bytes", "used_bytes", "file_bytes")}
    spec["urls"] = ["http://127.0.0.1:1/images/one.raw.zst"]
    refused = module(image, name="disk-v1", key=key, file=file, **spec)["msg"]
    assert "is registered with kind disk, and its file is of a partition" in refused
    signed = module(image, name="one-v1", kind="partition", key=key, file=file, **spec)
    assert signed["content"]["kind"] == "partition"
    assert "signature" in signed["image"]


def test_statement_and_signature_come_together(module: Run) -> None:
    for alone in ({"signature": "A" * 86 + "=="}, {"statement": STATEMENT}):
        assert "required together" in module(image, **gaps(), **alone)["msg"]


def test_nothing_is_signed_blindly(sledd: Sledd, module: Run, tmp_path: Path) -> None:
    key = make_key(tmp_path)
    module(image, **gaps())
    other = VECTORS / "ok/one_chunk.raw.zst"
    assert "cannot be reached" in module(image, name="gaps-v1", key=key)["msg"]
    refused = module(image, name="gaps-v1", key=key, file=str(other))
    assert "nothing was signed: image gaps-v1 is registered with digest sha256:41a2" in refused["msg"]
    for bad, want in {
        "flip_in_index": "its index is damaged",
        "cut_by_a_byte": "no image of Sled",
        "trailer_magic": "no trailer",
        "trailer_signature_of_version_1": "its trailer is damaged",
        "version_2_trailer": "has version 2",
        "trailer_index_past_end": "not where the trailer",
        "empty_file": "0 bytes",
    }.items():
        assert want in module(image, name="gaps-v1", key=key, file=str(VECTORS / f"bad/{bad}.raw.zst"))["msg"]
    assert "signature" not in sledd.objects["images"]["gaps-v1"]


def serve(files: dict[str, bytes], seen: list[tuple[str, str]]) -> ThreadingHTTPServer:
    """A web server that knows ranges. seen: path and token of each request."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append((self.path, self.headers.get("Authorization", "")))
            data = files.get(self.path)
            start, _, end = self.headers["Range"].removeprefix("bytes=").partition("-")
            if data is None:
                self.send_error(401)
                return
            first = int(start) if start else max(0, len(data) - int(end))
            part = data[first : int(end) + 1 if start else None]
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {first}-{first + len(part) - 1}/{len(data)}")
            self.send_header("Content-Length", str(len(part)))
            self.end_headers()
            self.wfile.write(part)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    return server


def test_a_captured_image_is_read_with_the_token_from_the_api_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    name, seen = "52-54-00-77-00-01-3.raw.zst", list[tuple[str, str]]()
    monkeypatch.setattr(imagefile, "TAIL", 200)  # so that the index needs a second request
    server = serve({f"/v1/captured/{name}": GAPS.read_bytes(), "/images/gaps": GAPS.read_bytes()}, seen)
    place = f"http://127.0.0.1:{server.server_address[1]}"
    client = Client(place, "secret")
    found = imagefile.read_urls(client, [f"http://192.0.2.1/images/captured/{name}"])
    assert found == imagefile.read_file(str(GAPS))
    assert set(seen) == {(f"/v1/captured/{name}", "Bearer secret")}
    assert len(seen) > 1
    seen.clear()
    assert imagefile.read_urls(client, [f"{place}/images/none", f"{place}/images/gaps"]) == found
    assert {token for _, token in seen} == {""}
    server.shutdown()
    server.server_close()
