# SPDX-License-Identifier: Apache-2.0
"""The figures as a picture for the documentation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # after the choice of its back end

STYLE = {"font.family": "sans-serif", "font.size": 11, "svg.hashsalt": "sled"}


def curves(path: Path, sizes: Sequence[int], panels: Mapping[str, Mapping[str, Sequence[float]]]) -> None:
    """A panel for each title: its figures by size, both axes logarithmic; limits are dashed."""
    plt.rcParams.update(STYLE)
    picture, all_axes = plt.subplots(1, len(panels), figsize=(5.5 * len(panels), 4), squeeze=False)
    for axes, (title, figures) in zip(all_axes[0], panels.items(), strict=True):
        for name, values in figures.items():
            axes.plot(sizes, values, "--" if name.startswith("limit") else "o-", label=name)
        axes.set_title(title, loc="left")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(sizes, [str(size) for size in sizes])
        axes.minorticks_off()
        axes.spines[["top", "right"]].set_visible(False)
        axes.yaxis.set_major_formatter("{x:g}")
        axes.legend(frameon=False, fontsize=9)
    picture.tight_layout()
    picture.savefig(path, metadata={"Date": None})


def bars(path: Path, title: str, figures: Mapping[str, Mapping[str, Any]]) -> None:
    """One horizontal bar for each, with the range seen; sledc and the limits stand out."""
    names = list(figures)
    colours = ["#0b7285" if n == "sledc" else "#ced4da" if n.startswith("limit") else "#868e96" for n in names]
    walls = [float(figures[n]["wall"]) for n in names]
    plt.rcParams.update(STYLE)
    picture, axes = plt.subplots(figsize=(8, 0.5 * len(names) + 1))
    drawn = axes.barh(names, walls, color=colours)
    axes.bar_label(drawn, labels=[f"{w:.1f} s" for w in walls], padding=4)
    axes.invert_yaxis()
    axes.set_title(f"{title}: seconds, less is better", loc="left")
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.xaxis.set_visible(False)
    axes.tick_params(left=False)
    axes.set_xlim(0, max(walls) * 1.12)
    picture.tight_layout()
    picture.savefig(path, metadata={"Date": None})
