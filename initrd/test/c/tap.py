# SPDX-License-Identifier: Apache-2.0
"""Runs the functions test_* of a module and prints TAP."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping


def run_tests(names: Mapping[str, object]) -> int:
    """Exit code 1 when one failed. With words on the command line, only the tests of those names."""
    tests = [
        (name, f)
        for name, f in names.items()
        if name.startswith("test_") and callable(f) and name in (sys.argv[1:] or [name])
    ]
    failed = 0
    for number, (name, test) in enumerate(tests, 1):
        try:
            test()
            print(f"ok {number} - {name}")
        except Exception:
            failed = 1
            print(f"not ok {number} - {name}")
            traceback.print_exc(file=sys.stdout)
    print(f"1..{len(tests)}")
    return failed
