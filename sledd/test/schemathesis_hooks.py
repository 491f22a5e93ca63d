# SPDX-License-Identifier: Apache-2.0
"""Cases that schemathesis reports wrongly: null for an optional member, or an empty parameter, counts as absent."""

import schemathesis


def has_null(value: object) -> bool:
    """Say whether null stands anywhere in a JSON value."""
    if isinstance(value, dict):
        return any(has_null(member) for member in value.values())
    if isinstance(value, list):
        return any(has_null(member) for member in value)
    return value is None


@schemathesis.hook
def filter_case(context: schemathesis.HookContext, case: schemathesis.Case) -> bool:
    """Keep only cases whose body holds no null, and whose parameters are not empty."""
    return not has_null(case.body) and "" not in (case.query or {}).values()
