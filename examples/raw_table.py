"""
A raw table, as people have it
==============================

An identifier, categories, dates, missing values and three classes.
"""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import fsopt


def write_table(path: Path, rows: int = 120) -> None:
    """Write a table of made-up plants: the kind depends on the color and the height, and some heights are missing."""
    draw = random.Random(0)
    lines = ["plant,color,height,planted,kind"]
    for i in range(rows):
        kind = draw.choice(["fern", "moss", "reed"])
        color = draw.choice({"fern": ["green", "dark"], "moss": ["dark", "brown"], "reed": ["brown", "green"]}[kind])
        height = draw.gauss({"fern": 40.0, "moss": 5.0, "reed": 120.0}[kind], 12.0)
        text = "" if draw.random() < 0.1 else f"{height:.1f}"
        lines.append(f"P{i:03d},{color},{text},2025-{draw.randint(1, 12):02d}-01,{kind}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def main() -> None:
    """Fit a classifier of reeds against the rest, and classify the table by its column names."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plants.csv"
        write_table(path)
        data = fsopt.load_dataset(
            path, target="kind", positive="reed", id="plant", drop="planted", onehot=True, missing="median"
        )
        fit = fsopt.fit("best-subset", data, m=2, class_weight="balanced")
        print(fit.summary())
        saved = Path(folder) / "fit.json"
        fit.save(saved)
        again = fsopt.load_fit(saved)
        print("the same labels:", bool((again.predict(data) == fit.predict(data)).all()))
        print({name: round(value, 3) for name, value in fit.scores(data).items()})


if __name__ == "__main__":
    main()
