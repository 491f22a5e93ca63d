# SPDX-License-Identifier: Apache-2.0
"""What the variables of a node say of its entry methods, its steps, its power and its ssh. Pure."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible.module_utils.common.arg_spec import ArgumentSpecValidator
from ansible_collections.sled.fleet.plugins.module_utils.client import Json, SettingsError
from ansible_collections.sled.fleet.plugins.module_utils.known import hint
from ansible_collections.sled.fleet.plugins.module_utils.power.options import CONTROL, WINDOW
from ansible_collections.sled.fleet.plugins.module_utils.supervise.core import Method, Policy
from ansible_collections.sled.fleet.plugins.module_utils.supervise.login import Login
from ansible_collections.sled.fleet.plugins.module_utils.supervise.stall import limits

METHODS = ("idle", "warm", "power", "wol", "manual")
STEPS: dict[str, Json] = {  # defaults of supervise_steps
    "idle": {"timeout": 90, "retries": 0},
    "warm": {"timeout": 600, "retries": 0},
    "power": {"timeout": 900, "retries": 1},
    "wol": {"timeout": 900, "retries": 0},
    "manual": {"timeout": 1800, "retries": 0},
    "image": {"silent": {"any": 600}, "timeout": 259200, "retries": 1, "codes": [1, 6]},
    "confirm": {"timeout": 900, "fallback": "cycle"},
    "verify": {"timeout": 120},
}
OWN = ("driver", "address", "port", "username", "password", "password_file", "password_env", "cipher_suite", "ca_file",
       "fingerprint", "system", "mac", "macs", "interface", "commands")  # fmt: skip
POWER = ArgumentSpecValidator(
    {
        "controls": {"type": "list", "elements": "dict", "options": CONTROL, "default": []},
        "window": {"type": "dict", "options": WINDOW},
    }
)
UNSWITCHED = ("wol", "ssh")  # drivers that cannot start a node that is off, or cannot at all

Get = Callable[[str], Any]  # the value of a variable; None: it is not defined


@dataclass(frozen=True)
class Settings:
    """What is declared of one node."""

    name: str  # of the inventory
    node: str  # name or MAC in sledd
    policy: Policy
    controls: tuple[Json, ...] = ()  # of its power, in the order in which they are tried
    window: Json | None = None
    timeout: float = 60.0  # seconds within which a power action must take effect
    firmware: str = ""  # of its next boot; empty: what the Sled system reported
    login: Login = field(default_factory=lambda: Login(""))
    sledc: str = ""
    rollout: str = ""  # to which its end is reported
    last: bool = True  # whether it is done then; else only a failure is its end

    @property
    def switched(self) -> list[Json]:
        """The controls that can start it."""
        return [control for control in self.controls if control["driver"] not in UNSWITCHED]

    @property
    def woken(self) -> list[Json]:
        """The controls that can only wake it."""
        return [control for control in self.controls if control["driver"] == "wol"]


def settings_of(name: str, get: Get) -> Settings:
    """Reads the variables of a node. Raises SettingsError, which names the variable."""
    driver = _text(get, "power_driver")
    methods = get("supervise_entry_methods")
    if methods is None:
        methods = ["idle", "warm", "power", "wol", *([] if driver else ["manual"])]
    unknown = [str(method) for method in methods if method not in METHODS]
    if unknown:
        raise SettingsError(f"{name}: supervise_entry_methods {unknown[0]}: {hint(unknown[0], METHODS)}")
    try:
        policy = policy_of(methods, get("supervise_steps") or {}, _text(get, "supervise_verify") or "ssh")
    except ValueError as error:
        raise SettingsError(f"{name}: supervise_steps: {error}") from None
    validated = POWER.validate({"controls": _controls(get, driver), "window": get("power_window") or None})
    if validated.error_messages:
        raise SettingsError(f"{name}: power_*: {'; '.join(validated.error_messages)}")
    try:
        timeout, login = float(get("power_timeout") or 60), _login(name, get)
    except ValueError as error:
        raise SettingsError(f"{name}: {error}") from None
    return Settings(
        name=name,
        node=_text(get, "supervise_node") or name,
        policy=policy,
        controls=tuple(validated.validated_parameters["controls"]),
        window=validated.validated_parameters["window"],
        timeout=timeout,
        firmware=_text(get, "power_firmware"),
        login=login,
        sledc=_sledc(get),
        last=not _text(get, "sled_hook_after"),
    )


def policy_of(methods: list[str], given: Mapping[str, Any], verify: str = "none") -> Policy:
    """The policy of the core, of the defaults and what is given instead. Raises ValueError."""
    if verify not in ("ssh", "none"):
        raise ValueError(f"supervise_verify {verify}: want ssh or none")
    if not isinstance(given, Mapping):
        raise ValueError(f"{given!r}: want a dictionary of {', '.join(STEPS)}")
    for step, fields in given.items():
        if step not in STEPS:
            raise ValueError(f"{step}: {hint(str(step), STEPS)}")
        if not isinstance(fields, Mapping):
            raise ValueError(f"{step}: want a dictionary of {', '.join(STEPS[step])}")
        unknown = [str(one) for one in fields if one not in STEPS[step]]
        if unknown:
            raise ValueError(f"{step}: {unknown[0]}: {hint(unknown[0], STEPS[step])}")
    steps = {step: {**default, **given.get(step, {})} for step, default in STEPS.items()}
    image, confirm = steps["image"], steps["confirm"]
    if confirm["fallback"] not in ("cycle", "none"):
        raise ValueError(f"confirm.fallback {confirm['fallback']}: want cycle or none")
    silent = {**STEPS["image"]["silent"], **image["silent"]}
    return Policy(
        methods={name: Method(_seconds(name, steps[name]["timeout"]), int(steps[name]["retries"])) for name in methods},
        silent=limits(silent),
        timeout=_seconds("image", image["timeout"]),
        retries=int(image["retries"]),
        codes=tuple(int(code) for code in image["codes"]),
        confirm=_seconds("confirm", confirm["timeout"]),
        fallback=confirm["fallback"] == "cycle",
        verify=_seconds("verify", steps["verify"]["timeout"]) if verify == "ssh" else 0.0,
    )


def _seconds(step: str, value: Any) -> float:
    try:
        seconds = 0.0 if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ValueError(f"{step}.timeout {value!r}: want seconds, more than 0")
    return seconds


def _controls(get: Get, driver: str) -> list[Json]:
    """All controls of the node, as role power has them. What is empty is left out."""
    own: list[Json] = []
    if driver:
        found = {name: get(f"power_{name}") for name in OWN}
        found = {name: value for name, value in found.items() if value not in (None, "", [], {}, 0, "0")}
        if found.get("password") or found.get("password_env"):
            found.pop("password_file", None)
        own = [found]
    rest = [dict(one) for one in get("power_escalation") or []]
    words = shlex.join(_words("power_ssh_common_args", get, "ansible_ssh_common_args"))
    controls = [*(dict(one) for one in get("power_first") or []), *own, *rest]
    for control in controls:
        control.setdefault("networks", get("power_networks") or [])
        if control.get("driver") == "ssh" and words:
            control["ssh_arguments"] = [*(control.get("ssh_arguments") or []), *shlex.split(words)]
    return controls


def _login(name: str, get: Get) -> Login:
    arguments = [
        word for option in ("ansible_ssh_common_args", "ansible_ssh_extra_args") for word in _words(option, get)
    ]
    return Login(
        address=_text(get, "ansible_ssh_host") or _text(get, "ansible_host") or name,
        port=int(_text(get, "ansible_ssh_port") or _text(get, "ansible_port") or 0),
        user=_text(get, "ansible_ssh_user") or _text(get, "ansible_user"),
        key_file=_path(get, "ansible_ssh_private_key_file") or _path(get, "ansible_private_key_file"),
        arguments=tuple(arguments),
        become=str(get("ansible_become")).lower() in ("true", "yes", "1"),
        connection=_text(get, "ansible_connection") or "ssh",
    )


def _sledc(get: Get) -> str:
    """The program sledc for the node's architecture, as playbooks find it; empty: that of the collection."""
    given = _path(get, "supervise_sledc") or _path(get, "sled_sledc")
    return given or (f"{get('sled_dist')}/bin/sledc" if get("sled_dist") else "")


def _words(name: str, get: Get, otherwise: str = "") -> list[str]:
    """The words of a variable with arguments."""
    text = _text(get, name) or (_text(get, otherwise) if otherwise else "")
    try:
        return shlex.split(text)
    except ValueError as error:
        raise SettingsError(f"{name} {text!r}: {error}: want words as in a shell") from None


def _path(get: Get, name: str) -> str:
    """A path with ~ as Ansible reads it, by $HOME. ssh would take the home of the account."""
    return os.path.expanduser(_text(get, name))


def _text(get: Get, name: str) -> str:
    value = get(name)
    return "" if value is None else str(value)
