# SPDX-License-Identifier: Apache-2.0
"""Two racks, each behind an uplink and a relay with the nginx of the role: how often an image crosses the uplinks."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import jinja2
import yaml
from hosted import Case
from packed import Image
from rack import SERVER, Bar, Rack, make_image, median, multicast, wait_all, wait_for
from writers import check, show, start

ROLE = Path("roles/relay").resolve()
RACKS, NODES = 2, 6
UPLINK, LINK, RATE = 100, 30, 20  # Mbit/s: of a rack, of its relay, of the sender there
NAME = "images.sled.internal"


def comment(text: str) -> str:
    """As Ansible's filter."""
    return f"# {text}"


def configuration(home: Path, upstream: str) -> str:
    """What the role writes to nginx.conf, with other places for its process."""
    made = jinja2.Environment(loader=jinja2.FileSystemLoader(ROLE / "templates"), keep_trailing_newline=True)
    made.filters["comment"] = comment
    values: dict[str, Any] = {"ansible_managed": "bench", "relay_address": SERVER, "relay_upstream": upstream}
    for part in ("defaults", "vars"):
        values |= yaml.safe_load((ROLE / part / "main.yml").read_text(encoding="ascii"))
    values |= {"relay_directory": home / "relay", "_relay_ca": home / "ca.crt", "_relay_user": "root"}
    values["_relay_boot"] = made.from_string(values["_relay_boot"]).render(values)
    text = made.get_template("etc/nginx/nginx.conf.j2").render(values)
    return text.replace("/run/", f"{home}/").replace("/var/log/nginx/", f"{home}/")


class Boot:
    """The boot server, in a separate namespace, with an uplink to each rack. Serves while it is entered."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.namespace = f"sled-mc-{os.getpid()}-boot"

    def __enter__(self) -> Self:
        self._home = tempfile.TemporaryDirectory()
        self.home = Path(self._home.name)
        self.certificate = self.home / "server.crt"
        words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        words += ["-days", "2", "-subj", "/CN=boot", "-addext", f"subjectAltName=DNS:{NAME}"]
        words += ["-keyout", f"{self.home}/key", "-out"]
        subprocess.run([*words, self.certificate], check=True, stderr=subprocess.DEVNULL, timeout=60)
        subprocess.run(["ip", "netns", "add", self.namespace], check=True, timeout=60)
        text = self.home / "nginx.conf"
        text.write_text(
            f"user root; daemon off; pid {self.home}/pid; error_log {self.home}/log;\nevents {{}}\nhttp {{\n"
            f"log_format sent '$remote_addr $body_bytes_sent'; access_log {self.home}/sent.log sent; sendfile on;\n"
            f"server {{ listen 443 ssl; ssl_certificate {self.certificate}; ssl_certificate_key {self.home}/key;\n"
            f"location /images/ {{ alias {self.directory}/; }} }} }}\n",
            encoding="ascii",
        )
        words = ["ip", "netns", "exec", self.namespace, "nginx", "-c", str(text), "-e", f"{self.home}/log"]
        self.nginx = subprocess.Popen(words)
        wait_for("nginx of the boot server", (self.home / "pid").exists)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.nginx.terminate()
        self.nginx.wait(timeout=30)
        subprocess.run(["ip", "netns", "del", self.namespace], check=True, timeout=60)
        self._home.cleanup()

    def connect(self, namespace: str, rack: int) -> str:
        """An uplink to the relay there. Returns the address of the boot server on it."""
        commands = [
            f"-n {self.namespace} link add up{rack} type veth peer name uplink netns {namespace}",
            f"-n {self.namespace} address add 198.19.{rack}.1/30 dev up{rack}",
            f"-n {self.namespace} link set up{rack} gso_max_segs 1 up",
            f"-n {namespace} address add 198.19.{rack}.2/30 dev uplink",
            f"-n {namespace} link set uplink up",
        ]
        for command in commands:
            subprocess.run(["ip", *command.split()], check=True, timeout=60)
        limit = f"dev up{rack} root tbf rate {UPLINK}mbit burst 64kb latency 50ms".split()
        subprocess.run(["tc", "-n", self.namespace, "qdisc", "add", *limit], check=True, timeout=60)
        return f"198.19.{rack}.1"

    def sent(self, rack: int) -> int:
        """Bytes of images that were sent to a rack."""
        lines = (self.home / "sent.log").read_text(encoding="ascii").splitlines()
        return sum(int(line.split()[1]) for line in lines if line.startswith(f"198.19.{rack}.2 "))

    def on_wire(self, rack: int) -> int:
        """Bytes of packets that were sent to a rack."""
        words = ["ip", "-n", self.namespace, "-s", "-j", "link", "show", f"up{rack}"]
        shown = subprocess.run(words, capture_output=True, check=True, timeout=60)
        return int(json.loads(shown.stdout)[0]["stats64"]["tx"]["bytes"])


class RelayedRack(Rack):
    """A rack whose server is a relay, which has nothing yet."""

    def __init__(self, boot: Boot, number: int, rate: int) -> None:
        super().__init__(Path(), NODES, LINK, rate)
        self.boot, self.number = boot, number
        self.switch.name += f"-{number}"

    def start_nginx(self) -> None:
        """As the role has it."""
        upstream = self.boot.connect(self.switch.namespace("server"), self.number)
        self.directory = self.home / "relay" / "images"
        for name in ("images", ".part", ".cache"):
            (self.home / "relay" / name).mkdir(parents=True)
        (self.home / "ca.crt").write_bytes(self.boot.certificate.read_bytes())
        text = self.home / "nginx.conf"
        text.write_text(configuration(self.home, upstream), encoding="ascii")
        words = ["nginx", "-g", "daemon off;", "-c", text, "-e", self.home / "error.log"]
        self.nginx = self.switch.start("server", *words)
        self.await_port("tcp", ":0050 ")

    def url(self, image: Image) -> str:
        """Of an image at the relay."""
        return f"http://{SERVER}/images/{image.path.name}"


def run(directory: Path, image: Image, rate: int) -> dict[str, float]:
    """All nodes of both racks write the image at once; the relays are cold."""
    words = multicast("mode=full") if rate else ["mode=full"]
    size = image.path.stat().st_size
    with Boot(directory) as boot, RelayedRack(boot, 0, rate) as first, RelayedRack(boot, 1, rate) as second:
        racks = [first, second]
        writers = [start(rack, image, NODES, *words) for rack in racks]
        ended = wait_all([writer for several in writers for writer in several])
        for rack in racks:
            wait_for("the whole image at the relay", (rack.directory / image.path.name).exists)
            check(rack, image, NODES)
        found = {
            "wall": show(f"{RACKS * NODES} nodes, multicast {bool(rate)}", ended),
            "copies": max(boot.sent(rack.number) for rack in racks) / size,
            "on_wire": max(boot.on_wire(rack.number) for rack in racks) / size,
            "multicast": min(rack.multicast_bytes(image) for rack in racks) / size if rate else 0.0,
        }
    print(f"  {found}", flush=True)
    return found


def relay(directory: Path, rounds: int) -> Case:
    """Line 13: 12 cold nodes in 2 racks, by HTTP and by multicast."""
    image = make_image(directory, "relay", 41, 308_000)
    figures: dict[str, Any] = {}
    bars = []
    for name, rate in (("by HTTP", 0), ("by multicast", RATE)):
        runs = [run(directory, image, rate) for _ in range(rounds)]
        figures[name] = {"wall": median([one["wall"] for one in runs])}
        figures[name] |= {key: max(one[key] for one in runs) for key in ("copies", "on_wire", "multicast")}
        bars.append(Bar(f"{name}: copies over the uplink of a rack", figures[name]["copies"], 1.05, 1.0))
    least = min(one["multicast"] for one in runs)
    bars.append(Bar("copies by multicast, in the rack with least", least, 1.3, 0.2))
    return figures, bars
