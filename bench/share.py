# SPDX-License-Identifier: Apache-2.0
"""64 nodes that fetch an image by HTTP at once, beside a client with 64 connections, from the nginx of its role.

usage: share.py URL, the client: requests it over 64 connections for as long as it runs.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import jinja2
import yaml
from hosted import Case
from packed import Image
from rack import SERVER, Bar, Rack, make_image, median
from relays import comment

ROLE = Path("roles/nginx").resolve()
NODES, GREEDY, LINK = 64, 64, 200  # nodes, connections, Mbit/s
BEFORE, DURING = 8, 20  # seconds


def configuration(home: Path, **changes: int) -> str:
    """What the role writes to nginx.conf, with other places for its process."""
    made = jinja2.Environment(loader=jinja2.FileSystemLoader(ROLE / "templates"), trim_blocks=True)
    made.filters["comment"] = comment
    values: dict[str, Any] = yaml.safe_load((ROLE / "defaults/main.yml").read_text(encoding="ascii"))
    values |= {"ansible_managed": "bench", "__nginx_certificate": {"stat": {}}, "_nginx_apart": False}
    values |= {"_nginx_user": "root", "_nginx_cache": home / "cache", "_nginx_boot_listen": [f"{SERVER}:"]}
    values |= {"nginx_root": home, "nginx_certificate": home / "crt", "nginx_certificate_key": home / "key"}
    text = made.get_template("etc/nginx/nginx.conf.j2").render(values | changes)
    return text.replace("/var/log/nginx", str(home)).replace("/var/lib/nginx/nginx.pid", str(home / "pid"))


class FairRack(Rack):
    """A rack whose nginx is that of the role."""

    def __init__(self, directory: Path, **changes: int) -> None:
        super().__init__(directory, NODES + 1, LINK)
        self.changes = changes

    def start_nginx(self) -> None:
        """As the role has it."""
        (self.home / "images/captured/.part").mkdir(parents=True)
        for path in self.directory.glob("*.zst"):
            (self.home / "images" / path.name).symlink_to(path)
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        command += ["-subj", "/CN=bench", "-keyout", f"{self.home}/key", "-out", f"{self.home}/crt"]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL, timeout=60)
        text = self.home / "nginx.conf"
        text.write_text(configuration(self.home, **self.changes), encoding="ascii")
        words = ["nginx", "-g", "daemon off;", "-c", text, "-e", self.home / "error.log"]
        self.nginx = self.switch.start("server", *words)
        # A queue of some packets for each of the connections, as its own network card has.
        shape = f"qdisc replace dev eth0 root tbf rate {LINK}mbit burst 64kb latency 300ms".split()
        subprocess.run(["tc", "-n", self.switch.namespace("server"), *shape], check=True, timeout=60)
        self.await_port("tcp", ":0050 ")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.nginx.terminate()  # with its workers
        self.nginx.wait(timeout=30)
        super().__exit__(kind, error, at)

    def delivered(self) -> list[int]:
        """Bytes to each client, all read at once."""
        words = ["ip", "-n", self.switch.namespace("bridge"), "-s", "-j", "link", "show", "type", "veth"]
        shown = json.loads(subprocess.run(words, capture_output=True, check=True, timeout=60).stdout)
        sent = {link["ifname"]: int(link["stats64"]["tx"]["bytes"]) for link in shown}
        return [sent[f"p{node + 2}"] for node in range(NODES + 1)]

    def url(self, image: Image) -> str:
        """Of an image at the server."""
        return f"http://{SERVER}/images/{image.path.name}"


def run(directory: Path, image: Image, **changes: int) -> dict[str, float]:
    """What each got while all wrote."""
    with FairRack(directory, **changes) as rack:
        for node in range(NODES):
            rack.writer(node, image, rack.home / f"disk{node}", "mode=full")
        rack.switch.start(str(NODES), sys.executable, Path(__file__).resolve(), rack.url(image))
        time.sleep(BEFORE)
        before = rack.delivered()
        time.sleep(DURING)
        got = [after - then for after, then in zip(rack.delivered(), before, strict=True)]
        if any(process.poll() is not None for process in rack.switch.running):
            sys.exit("bench: a client ended before the others were measured")
    share = sum(got) / len(got)
    nodes = got[:NODES]
    found = {
        "fastest_to_slowest": max(nodes) / min(nodes),
        "least_share": min(nodes) / share,
        "greedy_share": got[NODES] / share,
    }
    print(f"  {changes}: {found}", flush=True)
    return found


def share(directory: Path, rounds: int) -> Case:
    """As the role has it by default, and without its limit of requests for images."""
    image = make_image(directory, "long", 261, 308_000)
    figures: dict[str, Any] = {}
    for name, changes in (("without", {"nginx_image_requests": GREEDY}), ("default", {})):
        runs = [run(directory, image, **changes) for _ in range(rounds)]
        figures[name] = {key: median([one[key] for one in runs]) for key in runs[0]}
    return figures, [
        Bar("fastest node by slowest", figures["default"]["fastest_to_slowest"], 1.3),
        Bar("smallest share of a node", figures["default"]["least_share"], 2.0, 0.8),
    ]


def fetch(url: str) -> None:
    """Without a pause, other than after a refusal."""
    where = urlsplit(url)
    while True:
        try:
            connection = http.client.HTTPConnection(where.netloc, timeout=60)
            connection.request("GET", where.path)
            answer = connection.getresponse()
            while answer.status == http.client.OK and answer.read(1 << 20):
                pass
            connection.close()
        except OSError:
            pass
        time.sleep(0.1)


if __name__ == "__main__":
    for _ in range(GREEDY):
        threading.Thread(target=fetch, args=(sys.argv[1],)).start()
