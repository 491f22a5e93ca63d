# SPDX-License-Identifier: Apache-2.0
"""A double of sledd: enough of its API to keep nodes, images and bindings, and whatever answer a test wants instead."""

from __future__ import annotations

import copy
import hashlib
import hmac
import json
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from ansible_collections.sled.fleet.plugins.module_utils.client import Json

TOKEN = "0123456789abcdef"
HASH_KEY = "5e" * 32
TICKET = "sledt_525400770001_0_fedcba"


class Sledd:
    """The state of the double, and what it was asked."""

    def __init__(self) -> None:
        self.objects: dict[str, dict[str, Json]] = {"nodes": {}, "images": {}, "bindings": {}}
        self.rollouts: dict[str, Json] = {}
        self.asked: list[tuple[str, str, Json]] = []
        self.followed: list[str] = []  # the rollout that each request names
        self.refuse: list[int] = []  # statuses of the next answers
        self.unsatisfied: list[str] = []  # nodes that cannot be done in a rollout
        self.scenes: list[Json] = []  # states of n1, one for each time it is read
        self.raw: bytes | None = None
        self.files: dict[str, bytes] = {}  # by path, for all who ask
        self.sent: list[str] = []  # those that were sent whole
        self.admissions: dict[str, Json] = {}  # by MAC; of the others nothing is known
        self.operates = True  # the role of the token is enough for that
        self.log = "digest mismatch\n--- dmesg\nnoise"
        self.console = ""
        self.revision = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"sledd": self}))

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self._server.server_address[1]}"

    scheme = "http"

    def start(self) -> None:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def use_tls(self, folder: Path) -> Path:
        """Serves TLS with a certificate of its own, which is given back."""
        certificate, key = folder / "ca.crt", folder / "ca.key"
        subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
        command = [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            *subject,
        ]
        subprocess.run(
            [*command, "-keyout", str(key), "-out", str(certificate)], check=True, capture_output=True, timeout=30
        )
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.scheme = "https"
        return certificate

    def node(self, name: str, number: int, **status: Any) -> Json:
        """Puts a declared node in."""
        mac = f"52:54:00:77:00:{number:02x}"
        spec = {
            "mac": mac,
            "name": name,
            "disk": "only",
            "declared": True,
            "revision": number,
            "status": {"phase": "", "generation": 0},
        }
        self.objects["nodes"][mac] = spec
        spec["status"].update(status)  # type: ignore[attr-defined]
        return spec


def a_rollout(name: str, spec: Json) -> Json:
    """A new rollout as sledd gives it."""
    first = {"mac": "52:54:00:77:00:01", "wave": 1}
    runs = [
        {"node": node, "mac": "", "wave": 2, **(first if i == 0 else {}), "state": "waiting", "from": 3}
        for i, node in enumerate(spec["nodes"])
    ]
    counts = {"waiting": len(runs), "running": 0, "done": 0, "failed": 0}
    return {**spec, "name": name, "state": "running", "counts": counts, "runs": runs}


class Handler(BaseHTTPRequestHandler):
    """Answers as sledd does."""

    sledd: Sledd
    dry: bool  # of the request
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        self.handle_request()

    do_PUT = do_DELETE = do_POST = do_GET

    def handle_request(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")
        self.sledd.asked.append((self.command, self.path, body))
        if self.path in self.sledd.files:
            return self.file(self.sledd.files[self.path])
        self.dry = "dry_run=true" in self.path
        self.sledd.followed.append(self.headers.get("Sled-Rollout", ""))
        if self.headers["Authorization"] != f"Bearer {TOKEN}" or self.sledd.refuse:
            return self.problem(self.sledd.refuse.pop(0) if self.sledd.refuse else 401, "so says the test")
        if self.sledd.raw is not None:
            return self.answer(200, self.sledd.raw)
        path = urlsplit(self.path)
        collection, *rest = [unquote(part) for part in path.path.split("/")[2:]]
        if collection == "rollouts":
            return self.rollout(rest, parse_qs(path.query), body)
        if collection == "store":
            return self.json({"fleet": "f", "hash_key": HASH_KEY} if self.sledd.operates else {"fleet": "f"})
        return self.route(collection, rest, parse_qs(path.query), body)

    def route(self, collection: str, rest: list[str], query: dict[str, list[str]], body: Json) -> None:
        if not rest:
            many = collection == "bindings" and self.command == "POST"
            return self.bind_many(query, body["items"]) if many else self.page(collection, query)
        key, stored = self.find(collection, rest[0])
        if self.command == "GET" and collection == "nodes" and self.sledd.scenes:
            stored = self.sledd.scenes.pop(0)
        if rest[1:] in (["log"], ["console"]):
            text = getattr(self.sledd, rest[1])
            return self.answer(200, text.encode()) if text else self.problem(404, f"no {rest[1]}")
        if self.command == "PUT" and rest[1:] != ["rescue"]:
            return self.put(collection, key, stored, body, "take_over" in query)
        if stored is None:
            return self.problem(404, f"{rest[0]} does not exist")
        if self.command == "DELETE" and rest[1:] != ["rescue"]:
            return self.remove(collection, key, stored, query)
        if self.dry:
            stored = copy.deepcopy(stored)  # what follows changes that
        if rest[1:] == ["admission"]:
            stored = self.admission(key)
        stored = self.shown(collection, stored)
        return self.json(stored) if self.command == "GET" else self.post(collection, key, stored, rest[1:], body)

    def file(self, body: bytes) -> None:
        assert "Authorization" not in self.headers
        tag = f'"{hashlib.sha256(body).hexdigest()[:8]}"'
        same = self.headers.get("If-None-Match") == tag
        if not same:
            self.sledd.sent.append(self.path)
        self.send_response(304 if same else 200)
        self.send_header("ETag", tag)
        self.send_header("Content-Length", "0" if same else str(len(body)))
        self.end_headers()
        self.wfile.write(b"" if same else body)

    def boot(self) -> None:
        base = f"{self.sledd.url}/sled/cloud/"
        self.json(
            {
                "kernel": base + "vmlinuz",
                "initrd": base + "initrd.img",
                "arguments": "quiet sled.mac=52:54:00:77:00:01",
                "ticket": TICKET,
                "expires": "2026-01-02T03:19:05Z",
            }
        )

    def admission(self, mac: str) -> Json:
        nothing: Json = {"mac": mac, "state": "none", "required": "expected", "claims": []}
        return self.sledd.admissions.get(mac, nothing)

    def post(self, collection: str, key: str, stored: Json, rest: list[str], body: Json) -> None:
        if rest == ["boot"]:
            return self.boot()
        if rest == ["rescue"]:
            return self.rescue(stored, body)
        if key in self.sledd.admissions:
            return self.json(self.admission(key))
        return self.reimage(collection, key, stored) if rest == ["reimage"] else self.answer(204, b"")

    def shown(self, collection: str, stored: Json) -> Json:
        """A node with its binding, if it is declared with one."""
        binding = self.find("bindings", stored["name"])[1] if collection == "nodes" and stored.get("name") else None
        return {"binding": binding, **stored} if binding else stored

    def find(self, collection: str, name: str) -> tuple[str, Json | None]:
        objects = self.sledd.objects[collection]
        for key, stored in objects.items():
            if name in (key, stored.get("name"), stored.get("node")):
                return key, stored
        return name, None

    def bind_many(self, query: dict[str, list[str]], items: list[Json]) -> None:
        """Binds all or none. Nobody may bind a node to image bad."""
        faults = [
            {"location": f"body.items[{i}].image", "message": "image bad does not exist"}
            for i, item in enumerate(items)
            if item.get("image") == "bad"
        ]
        if faults:
            return self.json_problem({"status": 422, "title": "T", "detail": "nothing was changed", "errors": faults})
        bound = []
        for item in items:
            key, stored = self.find("bindings", item["node"])
            node = self.find("nodes", item["node"])[1] or {}
            assert item.pop("if_revision") == (stored or {}).get("revision", 0)
            generation = (stored or {}).get("generation", 0) + 1
            new = {**item, "generation": generation, "revision": 100, "mac": node["mac"], "satisfied": False}
            bound.append(new)
            if not self.dry:
                self.sledd.objects["bindings"][key] = new
        return self.json({"items": bound})

    def page(self, collection: str, query: dict[str, list[str]]) -> None:
        items = [self.shown(collection, o) for _, o in sorted(self.sledd.objects[collection].items())]
        after = query.get("after", [""])[0]
        only = {form for name in query.get("node", []) for form in (name, name.lower().replace("-", ":"))}
        items = [item for item in items if not only or only & {item["mac"], item.get("name")}]
        left = [item for item in items if item["mac"] > after]
        self.json({"items": left[:2], "next": left[1]["mac"] if len(left) > 2 else ""})

    def rollout(self, rest: list[str], query: dict[str, list[str]], body: Json) -> None:
        """Keeps rollouts whose first node is the canary, and the others one wave; a failure stops them."""
        kept = self.sledd.rollouts
        if not rest and self.command == "GET":
            return self.json({"items": [{**one, "runs": None} for one in reversed(kept.values())]})
        if not rest:
            known = [
                one
                for one in kept.values()
                if one["desired"] == body["desired"] and one["state"] in ("running", "stopped")
            ]
            one = known[0] if known else a_rollout(f"{query['kind'][0]}-{len(kept) + 1}", body)
            if not self.dry:
                kept[one["name"]] = one
            return self.json(one)
        if rest[0] not in kept:
            return self.problem(404, f"rollout {rest[0]} does not exist")
        one = kept[rest[0]]
        if self.command == "GET":
            return self.json(one)
        items = [self.run(one, item) for item in body["items"]]
        return self.json({"rollout": {**one, "runs": None}, "items": items})

    def run(self, one: Json, item: Json) -> Json:
        """Takes the report on one node of a rollout."""
        run = next(run for run in one["runs"] if run["node"] == item["node"])
        if item["node"] in self.sledd.unsatisfied and item["state"] == "done":
            return {"refused": f"the binding of node {item['node']} is not satisfied"}
        if item["state"] == "running" and one["state"] != "running":
            return {"refused": f"rollout {one['name']} is {one['state']}"}
        run |= item
        if item["state"] == "failed":
            one |= {"state": "stopped", "reason": f"canary {item['node']} failed"}
        return {"run": run}

    @staticmethod
    def other_owner(stored: Json | None, owner: str, take_over: bool) -> str:
        """Who a binding belongs to, unless that is the owner or it is taken over."""
        has = str((stored or {}).get("owner", ""))
        return "" if take_over or has == owner else has

    def remove(self, collection: str, key: str, stored: Json, query: dict[str, list[str]]) -> None:
        if owner := self.other_owner(stored, query.get("owner", [""])[0], "take_over" in query):
            return self.problem(409, f"the binding belongs to {owner}")
        if not self.dry:
            del self.sledd.objects[collection][key]
        return self.answer(204, b"")

    def rescue(self, node: Json, body: Json) -> None:
        if self.command == "DELETE":
            node.pop("rescue", None)
            return self.answer(204, b"")
        node["rescue"] = {**body, "started": "2026-11-21T23:00:00Z"}
        return self.json(node)

    def put(self, collection: str, key: str, stored: Json | None, body: Json, take_over: bool) -> None:
        if body.get("disk") == "/dev/sda":
            return self.problem(422, "disk /dev/sda is no selector")
        match, absent = self.headers.get("If-Match"), self.headers.get("If-None-Match")
        held = f'"{stored["revision"]}"' if stored else None
        if (match and match != held) or (absent and stored and stored.get("declared", True)):
            return self.problem(412, f"revision is {held}, wanted {match}")
        if owner := self.other_owner(stored, body.get("owner", ""), take_over):
            return self.problem(409, f"the binding belongs to {owner}")
        self.sledd.revision += 100
        answer = {**body, "revision": self.sledd.revision}
        if collection == "nodes":
            answer |= {"declared": True, "status": (stored or {}).get("status", {"phase": "", "generation": 0})}
        if collection == "bindings":
            generation = (stored or {}).get("generation", 0) + 1
            answer |= {"generation": generation, "mac": "52:54:00:77:00:01", "satisfied": False}
            if answer.pop("user_data", None):
                answer["user_data_sha256"] = (
                    f"hmac-sha256:{hmac.new(HASH_KEY.encode(), body['user_data'].encode(), 'sha256').hexdigest()}"
                )
        if not self.dry:
            self.sledd.objects[collection][key] = answer
        return self.json(answer)

    def reimage(self, collection: str, key: str, stored: Json) -> None:
        if self.headers.get("If-Match") != f'"{stored["revision"]}"':
            return self.problem(412, "changed")
        self.sledd.revision += 100
        again = {**stored, "generation": stored["generation"] + 1, "revision": self.sledd.revision}
        if not self.dry:
            self.sledd.objects[collection][key] = again
        return self.json(again)

    def json(self, value: Any) -> None:
        self.answer(200, json.dumps(value).encode())

    def problem(self, status: int, detail: str) -> None:
        self.json_problem({"status": status, "title": "T", "detail": detail})

    def json_problem(self, problem: Json) -> None:
        self.answer(problem["status"], json.dumps(problem).encode(), "application/problem+json")

    def answer(self, status: int, body: bytes, kind: str = "application/json") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        if status // 100 == 3:
            self.send_header("Location", "https://elsewhere/")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
