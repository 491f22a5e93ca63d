# SPDX-License-Identifier: Apache-2.0
"""Intel AMT: WS-Management (DMTF DSP0226, DSP0227) over HTTP with digest."""

from __future__ import annotations

import uuid
import xml.etree.ElementTree as ET
from typing import ClassVar
from xml.sax.saxutils import escape

from ansible_collections.sled.fleet.plugins.module_utils.client import Json
from ansible_collections.sled.fleet.plugins.module_utils.power.driver import OFF, ON, UNKNOWN, Driver
from ansible_collections.sled.fleet.plugins.module_utils.power.web import Refusal, Web

CIM = "http://schemas.dmtf.org/wbem/wscim/1/cim-schema/2/"
SOAP = "http://www.w3.org/2003/05/soap-envelope"
WSA = "http://schemas.xmlsoap.org/ws/2004/08/addressing"
WSMAN = "http://schemas.dmtf.org/wbem/wsman/1/wsman.xsd"
GET = "http://schemas.xmlsoap.org/ws/2004/09/transfer/Get"
TLS_PORT = 16993

# CIM's PowerState. Sleeping machines are not off: they wake as they were.
STATES = {2: ON, 3: ON, 4: ON, 6: OFF, 7: OFF, 8: OFF, 12: OFF, 13: OFF}
REQUESTS = {"on": 2, "off": 8, "reset": 10}
SOURCES = {"pxe": "Intel(r) AMT: Force PXE Boot", "disk": "Intel(r) AMT: Force Hard-drive Boot"}
BOOT_SETTING = "Intel(r) AMT: Boot Configuration 0"
NEXT_SINGLE_USE = 1
MEANINGS = {
    1: "not supported",
    2: "failed",
    4: "invalid parameter",
    5: "in use",
    4096: "started",
    4097: "invalid state transition",
}


def reference(resource: str, selectors: dict[str, str]) -> str:
    """An endpoint reference to one instance."""
    return (
        f"<a:Address>{WSA}/role/anonymous</a:Address><a:ReferenceParameters><w:ResourceURI>{CIM}{resource}</w:ResourceURI>"
        f"{selector_set(selectors)}</a:ReferenceParameters>"
    )


def selector_set(selectors: dict[str, str]) -> str:
    """Which instance is meant."""
    inner = "".join(f'<w:Selector Name="{name}">{escape(value)}</w:Selector>' for name, value in selectors.items())
    return f"<w:SelectorSet>{inner}</w:SelectorSet>" if inner else ""


def envelope(to: str, action: str, resource: str, selectors: dict[str, str], body: str = "") -> bytes:
    """One request."""
    return (
        '<?xml version="1.0" encoding="utf-8"?>'
        f'<s:Envelope xmlns:s="{SOAP}" xmlns:a="{WSA}" xmlns:w="{WSMAN}"><s:Header>'
        f'<a:Action s:mustUnderstand="true">{action}</a:Action><a:To s:mustUnderstand="true">{escape(to)}</a:To>'
        f'<w:ResourceURI s:mustUnderstand="true">{CIM}{resource}</w:ResourceURI>'
        f"<a:MessageID>uuid:{uuid.uuid4()}</a:MessageID>"
        f"<a:ReplyTo><a:Address>{WSA}/role/anonymous</a:Address></a:ReplyTo><w:OperationTimeout>PT20S</w:OperationTimeout>"
        f"{selector_set(selectors)}</s:Header><s:Body>{body}</s:Body></s:Envelope>"
    ).encode()


def value(answer: bytes, name: str) -> str:
    """Text of the first element of that name, whatever its namespace; raises ValueError for what is no plain XML."""
    if b"<!DOCTYPE" in answer or b"<!ENTITY" in answer:
        raise ValueError("it declares entities")
    try:
        root = ET.fromstring(answer)  # noqa: S314 (nothing that could be expanded got here)
    except ET.ParseError as error:
        raise ValueError(str(error)) from error
    for element in root.iter():
        if element.tag.rpartition("}")[2] == name:
            return (element.text or "").strip()
    return ""


class Amt(Driver):
    """The management engine of a machine with Intel vPro."""

    name: ClassVar[str] = "amt"
    verbs: ClassVar[tuple[str, ...]] = ("on", "off", "reset", "status", "bootdev")
    port: ClassVar[int] = 16992

    def __init__(self, node: str, options: Json) -> None:
        super().__init__(node, options)
        self.tls = options.get("port") == TLS_PORT

    def status(self) -> str:
        """Reads the power state of the managed system."""
        found = self._value(self._send(GET, "CIM_AssociatedPowerManagementService", {}), "PowerState")
        return STATES.get(int(found), UNKNOWN) if found.isdigit() else UNKNOWN

    def on(self) -> None:
        """Switches on."""
        self._power("on")

    def off(self) -> None:
        """Switches off hard."""
        self._power("off")

    def reset(self) -> None:
        """Resets."""
        self._power("reset")

    def bootdev(self, device: str, firmware: str) -> None:
        """Chooses the source of the next boot, then marks that choice for single use.

        AMT leaves the firmware's mode alone.
        """
        setting = {"InstanceID": BOOT_SETTING}
        source = reference("CIM_BootSourceSetting", {"InstanceID": SOURCES[device]})
        self._call("CIM_BootConfigSetting", setting, "ChangeBootOrder", f"<p:Source>{source}</p:Source>")
        chosen = reference("CIM_BootConfigSetting", setting)
        role = f"<p:BootConfigSetting>{chosen}</p:BootConfigSetting><p:Role>{NEXT_SINGLE_USE}</p:Role>"
        self._call("CIM_BootService", {"Name": "Intel(r) AMT Boot Service"}, "SetBootConfigRole", role)

    def _power(self, verb: str) -> None:
        system = reference("CIM_ComputerSystem", {"CreationClassName": "CIM_ComputerSystem", "Name": "ManagedSystem"})
        body = f"<p:PowerState>{REQUESTS[verb]}</p:PowerState><p:ManagedElement>{system}</p:ManagedElement>"
        self._call(
            "CIM_PowerManagementService",
            {"Name": "Intel(r) AMT Power Management Service"},
            "RequestPowerStateChange",
            body,
        )

    def _call(self, resource: str, selectors: dict[str, str], method: str, inner: str) -> None:
        body = f'<p:{method}_INPUT xmlns:p="{CIM}{resource}">{inner}</p:{method}_INPUT>'
        code = self._value(self._send(f"{CIM}{resource}/{method}", resource, selectors, body), "ReturnValue")
        if code not in ("0", "4096"):
            meaning = MEANINGS.get(int(code), "") if code.isdigit() else ""
            self.fail("refused", f"it refuses {method}: ReturnValue {code or 'missing'} {meaning}".rstrip())

    def _value(self, answer: bytes, name: str) -> str:
        try:
            return value(answer, name)
        except ValueError as error:
            self.fail("refused", f"its response is not WS-Management ({error}): is it AMT?")

    def _send(self, action: str, resource: str, selectors: dict[str, str], body: str = "") -> bytes:
        self.need("address", "username")
        port = self.options.get("port") or self.port
        base = f"{'https' if self.tls else 'http'}://{self.address}:{port}"
        web, sent = Web(self, base, digest=True), {"Content-Type": "application/soap+xml;charset=UTF-8"}
        try:
            return web.send("POST", "/wsman", envelope(f"{base}/wsman", action, resource, selectors, body), sent)
        except Refusal as error:
            text = self._value(error.body, "Text")
            self.fail("refused", f"it refuses {action.rpartition('/')[2]} of {resource}: {error} {text}".rstrip())
