"""Where a gain over the context-free attack comes from: words whose source the attacker has text of, and others.

    TEXTSAN_DATA=FOLDER python benchmarks/overlap.py data/sweeps/overlap-sst2.yml runs/sweeps/overlap-sst2

Reads what the attacks of a sweep hit, position by position, draws its splits again, and sets apart the positions
whose source (in sst2 a sentence with its phrases) has a record in the shadow set. 95 % intervals resample sources.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from textsan.evaluation import bootstrap_mean
from textsan.experiments import specification, sweep
from textsan.text.corpora import load_dataset, private_and_shadow

BASELINE = "context-free"


def shared_documents(cell) -> np.ndarray:
    """Whether the source of each private record has another record in the shadow set."""
    records = load_dataset(cell["dataset"], cell["drawn_from"])
    sizes = cell["n_private"], cell["n_shadow"], cell["seed"]
    private, shadow = private_and_shadow(records, *sizes, split_by=cell["split_by"])
    known = {record.fields["part_of"] for record in shadow}
    return np.array([record.fields["part_of"] in known for record in private])


def rows(cells, folder: Path):
    families: dict[tuple, dict] = {}
    for cell in cells:
        key = cell["dataset"], cell["split_by"], cell["seed"]
        by_epsilon = families.setdefault(key, {}).setdefault(cell["defence"]["epsilon"], {})
        by_epsilon[cell["attack"]["name"]] = cell, sweep.load_hits(cell, folder)
    for (dataset, split_by, seed), family in families.items():
        shared = shared_documents(next(iter(next(iter(family.values())).values()))[0])
        for epsilon, attacks in family.items():
            base = attacks.pop(BASELINE)[1]["hit"]
            for name, (_, found) in attacks.items():
                inside, gain = shared[found["document"]], found["hit"].astype(float) - base
                row = [dataset, split_by, seed, epsilon, name, len(gain), inside.mean()]
                for part in (inside, ~inside):
                    empty = (np.nan,) * 3
                    row += bootstrap_mean(gain[part], found["source"][part], seed=seed) if part.any() else empty
                yield row


COLUMNS = "dataset split_by seed epsilon attack n_positions shared".split()
COLUMNS += [f"{part}{end}" for part in ("gain shared", "gain other") for end in ("", " low", " high")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spec", type=Path)
    parser.add_argument("folder", type=Path, help="of the sweep's results, all of its cells computed")
    parser.add_argument("--out", type=Path, default=Path("data/results/overlap-within-sst2.csv"))
    arguments = parser.parse_args()
    cells = specification.read_spec(arguments.spec)
    frame = pd.DataFrame(rows(cells, arguments.folder), columns=COLUMNS)
    frame.round(5).to_csv(arguments.out, index=False, lineterminator="\n")
    made = {
        "command": f"TEXTSAN_DATA=FOLDER python benchmarks/overlap.py {arguments.spec} {arguments.folder}",
        "shared": "share of the attacked words whose source has a record in the shadow set",
        "gain": f"success minus that of the {BASELINE} attack on the same words; 95 %, sources resampled",
        "of": sweep.record(cells, arguments.folder),
    }
    arguments.out.with_suffix(".yml").write_text(
        yaml.safe_dump(made, sort_keys=False, width=110), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
