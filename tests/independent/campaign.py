# SPDX-License-Identifier: MIT
"""Batches of programs: one file and one run of the C compiler for many pipelines, the same without a schedule block and
with random ones. An item may be refused, and isl may give a program up; nothing else may be."""
import os
import re
import subprocess
import tempfile
import traceback
from collections import Counter
from pathlib import Path

import generate
import interpreter
import library
import values as V
from evaluate import Meaning

ROOT = Path(__file__).resolve().parents[2]
FLAGS = "-std=c11 -O1 -march=native -ffp-contract=off -fwrapv -fopenmp -fPIC -shared -Wall -Wextra -Werror".split()
REFUSED = re.compile(r"PMG050[234]|PMG0601")
GIVEN_UP = re.compile(r"PMG0702")       # more than isl can do with the operations that it has
DRAWS = (0, 1, 2, 3, 4)


class Campaign:
    def __init__(self, seed, build):
        self.seed, self.build = seed, build
        self.pmgc = str(Path(os.environ.get("PMGC", build / "pmgc")).resolve())
        self.rt = library.runtime(build)
        self.variants = 2 if "PMG_TEST_LONG" in os.environ else 1
        self.passed = self.failed = 0
        self.loose = set()
        self.counts = Counter()
        self.interp = interpreter.find(build)

    def fail(self, number, what):
        self.failed += 1
        print(f"FAILED program {number}: {what}\n    repeat: python3 tests/independent/test_independent.py "
              f"{self.seed} {number}", flush=True)
        return False

    def summary(self):
        return ", ".join(f"{n} {what}" for what, n in sorted(self.counts.items()))

    def batch(self, numbers):
        keep = os.environ.get("PMG_TEST_KEEP")
        with tempfile.TemporaryDirectory() as folder:
            where = Path(keep) if keep else Path(folder)
            where.mkdir(exist_ok=True)
            programs = {n: generate.program(self.seed, n) for n in numbers}
            texts = {}
            self.loose = set()
            for n, p in programs.items():
                (where / f"p{n}.pmg").write_text(p.text())
                variants = [self.with_items(n, p, v, where) for v in range(self.variants)]
                texts[n] = [("", p.text(), [])] + [v for v in variants if v]
            lib = self.compile(where, texts)
            for n in texts:
                self.counts["programs"] += 1
                self.program(n, programs[n], [t[0] for t in texts[n]], lib, where)

    def refusal(self, text, where):
        """What the compiler says of a program that it does not take, or None."""
        (where / "try.pmg").write_text(text)
        run = subprocess.run([self.pmgc, "try.pmg", "--emit=schedule"], cwd=where, capture_output=True, text=True,
                             timeout=300, check=False)
        return run.stderr if run.returncode else None

    def kept_items(self, n, p, variant, where):
        """All of them, or, if one is refused, those that are not."""
        items, kept = generate.items(self.seed, n, p, variant), []
        if self.refusal(p.text(items), where) is None:
            kept, items = items, []
        for item in items:
            said = self.refusal(p.text(kept + [item]), where)
            if said is None:
                kept.append(item)
            elif REFUSED.search(said):
                self.counts["items refused"] += 1
            elif GIVEN_UP.search(said):
                self.counts["items given up"] += 1
            else:
                self.fail(n, f"items {kept + [item]}: {said.strip()[:600]}")
        self.counts["items kept"] += len(kept)
        return kept

    def with_items(self, n, p, variant, where):
        """The program under another name, with those of the items that are not refused."""
        kept = self.kept_items(n, p, variant, where)
        mark = f"_s{variant}"
        text = p.text(kept).replace(f"pipeline p{n} ", f"pipeline p{n}{mark} ").replace(f"_p{n}_", f"_p{n}{mark}_")
        if any(item.startswith("algorithm") for item in kept):
            self.loose.add((n, mark))
        return (mark, text, kept) if kept else None

    def compile(self, where, texts):
        """The library of all programs; of those alone that the C compiler takes where one fails."""
        if not texts:
            return {}
        whole = "\n".join(t for rows in texts.values() for _, t, _ in rows)
        path = self.built(where, f"batch{next(iter(texts))}", whole)
        if isinstance(path, Path):
            lib = library.Library(path, self.rt)
            return {n: lib for n in texts}
        found = {}
        for n, rows in texts.items():
            path = self.built(where, f"alone{n}", "\n".join(t for _, t, _ in rows))
            if isinstance(path, Path):
                found[n] = library.Library(path, self.rt)
            elif GIVEN_UP.search(path):
                self.counts["programs given up"] += 1
            else:
                self.fail(n, f"no library: {path}\n    with {[k for _, _, k in rows]}")
        return found

    def built(self, where, name, text):
        (where / f"{name}.pmg").write_text(text)
        candidates = 1 if "PMG_TEST_LONG" not in os.environ else 2
        for command in ([self.pmgc, f"{name}.pmg", f"--candidates={candidates}", "--blas=off", "-o", f"{name}.c"],
                        [os.environ.get("CC", "gcc"), *FLAGS, f"-I{ROOT}/runtime", f"{name}.c", "-o", f"{name}.so",
                         str(self.build / "libpmgrt.so"), "-lm"]):
            run = subprocess.run(command, cwd=where, capture_output=True, text=True, timeout=900, check=False)
            if run.returncode:
                return f"{Path(command[0]).name} {run.returncode}: {run.stderr.strip()[:1500]}"
        return where / f"{name}.so"

    def program(self, n, p, marks, libs, where):
        if n not in libs:
            return
        for which in DRAWS:
            got = generate.sizes(self.seed, n, p, which)
            drawn = generate.data(self.seed, n, p, which, got)
            if drawn is None:
                self.counts["draws without data"] += 1
                continue
            try:
                expected = self.meaning(p, got, drawn)
            except V.Undecided:
                self.counts["draws undecided"] += 1
                continue
            except V.Mistake:
                self.counts["draws of overflow"] += 1
                continue
            except Exception as wrong:      # pylint: disable=broad-except
                self.fail(n, f"the generator is wrong: {wrong!r}, sizes {got}, {traceback.format_exc()[-400:]}")
                return
            if not self.compare(n, p, marks, libs[n], which, got, drawn, expected, where):
                return

    def meaning(self, p, got, drawn):
        arrays, scalars = drawn
        inputs = {}
        for name, rows in arrays.items():
            shape = [generate.extent(e, got) for e in p.arrays[name].shape]
            inputs[name] = dict(zip(library.rows(shape), rows))
        return Meaning(p, got, scalars, inputs).run()

    def compare(self, n, p, marks, lib, which, got, drawn, expected, where):
        fine = True
        if self.interp and which in (1, 2, 4):
            fine &= self.judge(n, p, f"interpreter, draw {which}", got, expected,
                       lambda: interpreter.run(self.interp, p, where, got, drawn))
        for i, mark in enumerate(marks):
            threads = (1, 2, 3, 2)[(which + i) % 4]
            options = library.Options(threads=threads, tune=(which % 2))
            fine &= self.judge(n, p, f"compiled{mark or ' plain'}, draw {which}, {threads} threads", got, expected,
                       lambda m=mark, o=options: lib.run(f"p{n}{m}", members(p, got, drawn), o))
        return fine

    @staticmethod
    def slack(t, rows):
        """Another algorithm differs by rounding of the largest values of a system (docs/eliminations.md)."""
        if t not in V.FLOATS:
            return 0.0
        sure = [abs(V.center(e)) for e in rows if V.error(e) < V.math.inf and V.math.isfinite(V.center(e))]
        return max(sure, default=0)*(1e-3 if t == "f32" else 1e-10)

    def judge(self, n, p, who, got, expected, run):
        try:
            results = run()
        except (library.Failed, interpreter.Failed) as failed:
            return self.fail(n, f"{who}, sizes {got}: {failed}")
        is_loose = any(n == m and f"compiled{mark}," in who for m, mark in self.loose)
        for name, rows in expected.items():
            t = p.arrays[name].t
            slack = self.slack(t, rows) if is_loose else 0.0
            mine = list(results[name])[:len(rows)]
            for i, (e, g) in enumerate(zip(rows, mine)):
                if not V.agree(t, e, g) and not (slack and V.error(e) and abs(V.center(e) - g) <= slack):
                    return self.fail(n, f"{who}, sizes {got}: {name}[{i}] is {g!r}, not {V.center(e)!r} within "
                                        f"{V.error(e):.3g}")
            self.counts["values to the bit"] += sum(V.error(e) == 0 for e in rows)
            self.counts["values within bounds"] += sum(0 < V.error(e) < V.math.inf for e in rows)
            self.counts["values not promised"] += sum(V.error(e) == V.math.inf for e in rows)
        self.passed += 1
        return True


def local(p, name, arrays):
    """The values of an array as the caller gives them: parents of a forest are local to their trees."""
    a, rows = p.arrays[name], arrays[name]
    if not a.kind or not a.kind.endswith(".offset"):
        return rows
    starts, start, out = arrays[a.kind], 0, []
    for i, v in enumerate(rows):
        start = max(s for s in starts if s <= i)
        out.append(v - start if v >= 0 else -1)
    return out


def members(p, got, drawn):
    arrays, scalars = drawn
    rows = []
    for kind, name in [x for x in p.order if x[0] != "array"] + [x for x in p.order if x[0] == "array"]:
        if kind == "size":
            rows.append((name, kind, got[name]))
        elif kind in V.FLOATS:
            rows.append((name, kind, scalars[name]))
        else:
            a = p.arrays[name]
            shape = [generate.extent(e, got) for e in a.shape]
            n = 1
            for x in shape:
                n *= x
            values = local(p, name, arrays) if name in arrays else [7 if a.t not in V.FLOATS else 7.5]*n
            if a.t == "bool":
                values = [int(v == 1) for v in values]
            rows.append((name, "array", (a.t, values, shape)))
    return rows
