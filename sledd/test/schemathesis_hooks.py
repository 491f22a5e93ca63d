# SPDX-License-Identifier: Apache-2.0
"""What the description of the API cannot express: which errors it has, and cases that schemathesis reports wrongly."""

import schemathesis

ERRORS = (400, 401, 403, 404, 409, 410, 412, 413, 415, 422, 429, 503)


def has_null(value: object) -> bool:
    """Say whether null stands anywhere in a JSON value."""
    if isinstance(value, dict):
        return any(has_null(member) for member in value.values())
    if isinstance(value, list):
        return any(has_null(member) for member in value)
    return value is None


@schemathesis.check
def problem_states_its_status(
    ctx: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case
) -> None:
    """Fail for an error that is none of the API's, or whose problem names another status."""
    if response.status_code < 400 or response.status_code == 405:  # a method that no path has is refused in plain text
        return
    if response.status_code not in ERRORS:
        raise AssertionError(f"{response.status_code} is no error of the API")
    if response.json()["status"] != response.status_code:
        raise AssertionError("the problem names another status")


@schemathesis.hook
def filter_case(context: schemathesis.HookContext, case: schemathesis.Case) -> bool:
    """Keep only cases without null and empty parameters: sledd takes both for absent, and schemathesis for invalid."""
    return not has_null(case.body) and "" not in (case.query or {}).values()
