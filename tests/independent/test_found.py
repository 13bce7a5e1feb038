# SPDX-License-Identifier: MIT
"""Programs that were wrong, with the right values (found.pmg), by the interpreter and by generated code.
Not with sanitizers: its time is that of C compilers. Its C is not optimised."""
import os
import re
import subprocess
import tempfile
from pathlib import Path

PMG = str((Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
FILE = Path(__file__).with_name("found.pmg").resolve()
CASE = re.compile(r"^# (\S+=.*): (.*)\npipeline (\w+)", re.M)
WAYS = (["--interp"], ["--candidates=1"])


def values(folder, name, arguments, wanted, way):
    outputs = [x for w in wanted for x in ("-o", f"{w}={folder}/{w}.txt")]
    run = subprocess.run([PMG, "run", str(FILE), "--pipeline", name, *way, *arguments, *outputs], capture_output=True,
                         text=True, check=False)
    if run.returncode:
        return run.stderr
    return {w: [float(x) for x in Path(folder, f"{w}.txt").read_text().split()] for w in wanted}


def main():
    failed = passed = 0
    for arguments, results, name in CASE.findall(FILE.read_text()):
        wanted = {w: [float(x) for x in v.split()] for w, v in re.findall(r"(\w+) = ([^,]+)", results)}
        for way in WAYS:
            with tempfile.TemporaryDirectory() as folder:
                got = values(folder, name, arguments.split(), wanted, way)
            if repr(got) == repr(wanted):
                passed += 1
            else:
                failed += 1
                print(f"{name} {way[0]}: {got}, not {wanted}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


raise SystemExit(main())
