#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lines of SWC as programs write them: further columns, ids with a fraction, commas between columns and in numbers;
what comments say of units; and what is told of radii that no neuron has."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from checks import PMG, check, closing, imported

PLAIN = "1 1 0.5 0 0 10.25 -1\n2 3 20 1.5 -3 1 1\n3 3 110 0 2.25 0.5 2\n"
NAMES = ("F/parent", "id", "type", "place", "diameter", "diag", "rhs", "area", "distance")


def told(text, *options):
    """Status, and what is said of such a file."""
    Path("told.swc").write_text(text)
    run = subprocess.run([PMG, "import", "swc", "told.swc", "-o", "told.h5", *options], capture_output=True, text=True,
                         check=False, timeout=60)
    return run.returncode, run.stdout + run.stderr


def table(separator, *columns, mark="."):
    return "".join(separator.join((*line.replace(".", mark).split(), *columns)) + "\n" for line in PLAIN.splitlines())


def lines_have_forms():
    Path("plain.swc").write_text(PLAIN)
    right = imported("plain.swc")
    for what, text, note in (
            ("further columns", table(" ", "7", "x", "0.25"), "columns behind the seventh, which are not read: 3"),
            ("fractions of ids", PLAIN.replace("\n", ".0\n").replace(" 3 ", " 3.0 ").replace("2 3.0", "2.0 3.0"), ""),
            ("commas", table(","), ""), ("commas and blanks", table(", "), ""), ("commas apart", table(" , "), ""),
            ("commas and further columns", table(",", "4", "5"), "which are not read: 2"),
            ("semicolons", table(";"), ""), ("semicolons at the end", table(";").replace("\n", ";\n"), ""),
            ("semicolons before words", table(" ;"), ""), ("semicolons apart", table(" ; "), ""),
            ("semicolons before words, decimal commas", table(" ;", mark=","), "commas are decimal commas"),
            ("commas before words", table(" ,"), ""), ("tabs", table("\t"), ""),
            ("decimal commas", table(" ", mark=","), "commas are decimal commas"),
            ("decimal commas, semicolons", table(";", mark=","), "commas are decimal commas"),
            ("decimal commas between commas", table(", ", mark=","), "commas are decimal commas")):
        status, out = told(text)
        check(status == 0 and note in out and ("decimal" in out) == ("decimal" in note), f"{what}: {out}")
        got = imported("told.swc") if status == 0 else {name: np.nan for name in NAMES}
        check(all(np.array_equal(got[name], right[name]) for name in NAMES), f"{what}: other numbers")


def unclear_lines_are_refused():
    for what, text, said in (
            ("both marks", "1 1 0,5 0 0 1 -1\n2 1 0.5 9 0 1 1\n",
             "told.swc:2: '0.5' has a decimal point, after numbers with a comma"),
            ("both marks, otherwise", "1 1 0.5 0 0 1 -1\n2 1 0,5 9 0 1 1\n",
             "told.swc:2: '0,5' has a decimal comma, after numbers with a point"),
            ("thousands", "1 1 1,234.5 0 0 1 -1\n", "told.swc:1: '1,234.5' is not a number"),
            *((f"a column that is empty: {text}", text + "\n",
               f"told.swc:1: a column is empty: no number stands before a '{sign}'")
              for sign in ",;"
              for text in (row.replace(",", sign) for row in ("1,1,0,,0,1,-1,4", "1 , 1 , 0 , , 0 , 1 , -1 , 4",
                                                              "1 ,1 ,0 , ,0 ,1 ,-1 ,4", ",1,1,0,0,0,1,-1",
                                                              ", 1, 1, 0, 0, 0, 1, -1"))),
            ("columns that come and go", PLAIN.replace("0.5 2\n", "0.5 2 8\n"),
             "told.swc:3: 8 columns, after lines of 7"),
            ("a fraction", "1.5 1 0 0 0 1 -1\n", "told.swc:1: '1.5' is not an integer"),
            ("too few", "1,1,0,0,0,1\n", "told.swc:1: the line ends before the parent"),
            ("very many", "1 1 0 0 0 1 -1" + " 0"*90 + "\n", "told.swc:1: there are more than 64 columns")):
        status, out = told(text)
        check(status == 3 and said in out, f"{what}: {status} {out}")


def units_are_of_an_option():
    right = imported("plain.swc")
    for unit, factor in (("nm", 1e-3), ("um", 1), ("mm", 1e3)):
        got = imported("plain.swc", f"--unit={unit}")
        check(np.allclose(got["place"], factor*right["place"], rtol=1e-15) and
              np.allclose(got["area"], factor**2*right["area"], rtol=1e-13), f"{unit}")
    scaled = "# ORIGINAL_SOURCE x\n# SCALE 2 2 4\n" + PLAIN
    status, out = told(scaled)
    check(status == 0 and "the scale 2 2 4 of a comment is not applied: --scale=apply does" in out, out)
    status, out = told(scaled, "--scale=apply")
    got = imported("told.swc", "--scale=apply", "--unit=nm")
    check("coordinates are multiplied by the scale 2 2 4" in out and
          np.allclose(got["place"], 1e-3*right["place"]*[2, 2, 4]) and
          np.allclose(got["diameter"], 2e-3*right["diameter"]), f"scaled: {out}")
    check(np.array_equal(imported("told.swc")["place"], right["place"]), "a scale that is not applied")
    check("scale" not in told("# SCALE 1 1 1\n" + PLAIN)[1], "a scale of 1 is none")
    check("there is no comment '# SCALE x y z'" in told(PLAIN, "--scale=apply")[1], "no scale")


def radii_of_no_neuron_are_told():
    big = PLAIN.replace("10.25", "1533")
    status, out = told(big)
    check(status == 0 and "warning: the largest radius is 1533 um, which no neuron has: is it --unit=nm?" in out, out)
    check("warning" not in told(big, "--unit=nm")[1], "nanometres")
    small = "1 1 0 0 0 0.005 -1\n2 3 0.1 0 0 0.001 1\n"
    check("the largest radius is 0.005 um, which no neuron has: is it --unit=mm?" in told(small)[1], "millimetres")
    check("warning" not in told(small, "--unit=mm")[1] and "warning" not in told(PLAIN)[1], "no warning")
    meta = '# Meta: {"id": "7", "units": "1 nanometer"}\n' + PLAIN
    check("a comment says that the unit is the nanometre, and um are taken: --unit=nm" in told(meta)[1], "navis")
    check("nanometre" not in told(meta, "--unit=um")[1], "the user's unit")
    status, out = told(PLAIN, "--unit=km")
    check(status == 2 and "--unit=km is no unit" in out and "there are um, nm and mm" in out, out)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for question in (lines_have_forms, unclear_lines_are_refused, units_are_of_an_option,
                         radii_of_no_neuron_are_told):
            question()
        os.chdir("/")
    return closing()


sys.exit(main())
