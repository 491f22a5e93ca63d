# SPDX-License-Identifier: Apache-2.0
"""Options that every module of the collection has, and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ansible.module_utils.basic import AnsibleModule, env_fallback
from ansible_collections.sled.fleet.plugins.module_utils.client import Client, Json, SettingsError, SledError

API: Json = {
    "server": {"type": "str", "required": True, "fallback": (env_fallback, ["SLED_SERVER"])},
    "token": {"type": "str", "no_log": True, "fallback": (env_fallback, ["SLED_TOKEN"])},
    "token_file": {"type": "path", "no_log": False, "fallback": (env_fallback, ["SLED_TOKEN_FILE"])},
    "ca_file": {"type": "path", "fallback": (env_fallback, ["SLED_CA"])},
    "timeout": {"type": "float", "default": 30.0},
}


def read_token(token: str | None, token_file: str | None) -> str:
    """Returns the token, from the option or from the file."""
    if not token and token_file:
        try:
            with open(token_file, encoding="ascii") as file:
                token = file.read().strip()
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"token_file {token_file}: {error}") from error
        if not token:
            raise SettingsError(f"token_file {token_file} is empty")
    if not token:
        raise SettingsError("no token: set token_file (SLED_TOKEN_FILE) or token (SLED_TOKEN)")
    if not all("!" <= c <= "~" for c in token):
        raise SettingsError("the token holds a space or a control character: want one word")
    return token


def connect(options: Mapping[str, Any]) -> Client:
    """A client as the connection options say."""
    token = read_token(options.get("token"), options.get("token_file"))
    return Client(options["server"], token, options.get("ca_file"), options["timeout"])


def run(module: AnsibleModule, work: Callable[[Client, Json, bool], Json]) -> None:
    """Does a module's work and ends it: the result, or the error of sledd.

    work takes the client, the options and check mode.
    """
    try:
        result = work(connect(module.params), module.params, module.check_mode)
    except SledError as error:
        module.fail_json(msg=str(error), status=getattr(error, "status", 0))
    else:
        module.exit_json(**result)


def given(options: Mapping[str, Any], names: tuple[str, ...]) -> Json:
    """Those of the named options that were given."""
    return {name: options[name] for name in names if options.get(name) is not None}
