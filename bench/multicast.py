#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""multicast.py DIRECTORY OUT: what one image to many nodes costs, case by case, in network namespaces.

Run by `make bench-multicast`, as root. CASES="scaling,late" chooses; ROUNDS=5. DIRECTORY keeps the images. OUT.json has
the figures and whether each bar is met.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from hosted import fair, late, scaling, slow
from measure import save
from relays import relay
from rivals import rivals
from share import share
from skew import skew
from writers import death, delta, engine, unicast

CASES = {
    "scaling": scaling,
    "engine": engine,
    "late": late,
    "slow": slow,
    "unicast": unicast,
    "rivals": rivals,
    "death": death,
    "fair": fair,
    "delta": delta,
    "relay": relay,
    "share": share,
    "skew": skew,
}


def main() -> None:
    """Runs the cases that are chosen; those of an earlier run stay in the file."""
    directory, out = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    rounds = int(os.environ.get("ROUNDS") or "5")
    chosen = (os.environ.get("CASES") or ",".join(CASES)).split(",")
    if unknown := set(chosen) - set(CASES):
        sys.exit(f"bench: no case {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    directory.mkdir(parents=True, exist_ok=True)
    before = out.with_suffix(".json")
    found: dict[str, Any] = json.loads(before.read_text(encoding="ascii")) if before.exists() else {}
    missed = 0
    for name in chosen:
        print(f"{name}:", flush=True)
        figures, bars = CASES[name](directory, rounds)
        found[name] = {
            "rounds": rounds,
            "load": round(os.getloadavg()[0], 1),
            "figures": figures,
            "bars": [bar.as_json() | {"met": bar.is_met()} for bar in bars],
        }
        save(out, found)
        for bar in bars:
            limits = f"{bar.least:g} to {bar.most:g}" if bar.least else f"at most {bar.most:g}"
            print(f"  {'ok    ' if bar.is_met() else 'MISSED'} {bar.what}: {bar.figure:.3f} ({limits})", flush=True)
            missed += not bar.is_met()
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
