# SPDX-License-Identifier: Apache-2.0
"""The hash that stands for user data in bindings: keyed, so that no reader guesses a short secret from it."""

from __future__ import annotations

import hashlib
import hmac
from functools import cache

from ansible_collections.sled.fleet.plugins.module_utils.client import Client, SledError


@cache  # once for all nodes of a call
def _key(client: Client) -> str:
    key = client.store().get("hash_key")
    if not key:
        raise SledError("user_data needs a token of role operate: sledd compares it for no other role")
    return str(key)


def user_data_hash(client: Client, user_data: str) -> str:
    """As sledd reports it; empty for none."""
    if not user_data:
        return ""
    return "hmac-sha256:" + hmac.new(_key(client).encode(), user_data.encode(), hashlib.sha256).hexdigest()
