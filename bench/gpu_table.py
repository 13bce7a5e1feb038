#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Records of `pmg bench life --target=cuda` as a table: a line for each version, medians in ms.

    gpu_table.py RECORDS.json...
"""
import json
import re
import sys

COLUMNS = (("dsc", "dense"), ("dsc", "sparse=0.21"), ("wc", "dense"))
TITLES = ("y = M w", "y = M w, 21 % of the weights", "w = M'y")


def name_of(record):
    options = re.sub(r"accumulate \w+", "accumulate ...", record["algorithm"].strip("'"))
    if record["version"] == "generated" and options:
        return f"`generated`, `{options}`"
    return f"`{record['version']}`"


def main(paths):
    times = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for record in map(json.loads, file):
                column = (record["op"], record["weights"])
                times.setdefault(name_of(record), {})[column] = record["ms_median"]
    print("| | " + " | ".join(TITLES) + " |")
    print("| --- |" + " --- |" * len(TITLES))
    for name, found in times.items():
        print(f"| {name} | " + " | ".join(f"{found[c]:.2f}" if c in found else "-" for c in COLUMNS) + " |")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main(sys.argv[1:])
