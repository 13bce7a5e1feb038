# SPDX-License-Identifier: MIT
"""README.md, tests/README.md and docs/*.md: every block fenced `pmg` compiles, every relative link and anchor exists,
what commands print is what is shown, and the commands of blocks fenced `sh run`, `sh works` and `sh small64` work.

`sh run` belongs to an example to type in: blocks before it are fenced with the file they go to (`pmg poly.pmg`,
`c main.c`), and the `text` block behind it shows what the commands print. `sh small64` and `python small64` run beside
the files of that data set, if PMG_TEST_DATA has it. All run in a folder of their own with an installation of the tree.
Other blocks fenced `sh` and `python` are only read (commands.py), MATLAB's where there is octave.

What a reader need not see stands in a comment right above a fence: `<!-- sh` commands to run before, `<!-- frame` a
pipeline in which a fragment takes the place of `...`. A fragment without frame is a program, or stands in one of
dsl_examples.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from commands import wrong_in_python, wrong_in_shell

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"(?:^<!-- (?:sh|frame)\n(?P<before>(?:(?!-->).)*)-->\n)?"
                   r"^```(?P<tag>[\w-]*)(?: (?P<name>[\w./-]+))?\n(?P<text>.*?)^```$",
                   re.M | re.S)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(#[^)\s]*)?\)")
DOCUMENTS = [ROOT / "README.md", ROOT / "tests" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def run(command, cwd=ROOT, env=None):
    return subprocess.run(command, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


class Count:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def __call__(self, what, complaint):
        """One test; `complaint` is empty when it passed."""
        self.passed += not complaint
        self.failed += bool(complaint)
        if complaint:
            print(f"{what}: {complaint}")

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped


def complaint_of(done):
    return "" if done.returncode == 0 else done.stdout or f"exit status {done.returncode}"


def blocks(text):
    """Line, tag, name and text of each fence, and what is hidden above it."""
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start("tag")) + 1
        yield line, found["tag"], found["name"], found["text"], found["before"] or ""


def anchors(text):
    """The anchors of a document's headings, as forges make them."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.M)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def check_programs(count, path, pmgc, folder):
    for line, tag, _, text, before in blocks(path.read_text()):
        if tag == "pmg-fragment" and is_of_example(text):
            continue
        if tag in ("pmg", "pmg-fragment"):
            program = folder / "program.pmg"
            program.write_text(before.replace("...", text) if before else text)
            count(f"{path.name}:{line}", complaint_of(run([pmgc, program, "-o", folder / "program.c"])))


def is_of_example(text):
    """Whether each of its lines stands in one and the same example."""
    lines = {" ".join(line.split()) for line in text.splitlines()}
    return any(lines <= {" ".join(line.split()) for line in example.read_text().splitlines()}
               for example in (ROOT / "dsl_examples").glob("**/*.pmg"))


def check_unrun(count, path, build):
    """What is only read: in the shell and Python all blocks, of Octave those where there is one."""
    for line, tag, _, text, before in blocks(path.read_text()):
        if tag == "sh":
            count(f"{path.name}:{line}", wrong_in_shell(text, build))
        elif tag == "python":
            count(f"{path.name}:{line}", wrong_in_python(text))
        elif tag == "matlab" and not shutil.which("octave"):
            print(f"{path.name}:{line}: skipped, there is no octave")
            count.skipped += 1
        elif tag == "matlab":
            done = run(["octave", "--no-gui", "--eval", f"if 0\n{text}\nend"])
            count(f"{path.name}:{line}", complaint_of(done))


def check_links(count, path):
    text = FENCE.sub("", path.read_text())
    for target, anchor in LINK.findall(text):
        file = (path.parent / target).resolve() if target else path
        wrong = "" if file.exists() else "there is no such file"
        if not wrong and anchor and file.suffix == ".md" and anchor[1:] not in anchors(file.read_text()):
            wrong = "there is no such heading"
        count(f"{path.name}: link {target}{anchor}", wrong)


def environment(prefix):
    """Of commands: what they have gcc compile is not optimised but in the long form."""
    quick = "" if "PMG_TEST_LONG" in os.environ else f"{ROOT}/tests/quick:"
    return dict(os.environ, PATH=f"{quick}{prefix}/bin:{os.environ['PATH']}", PMG_TEST_GCC=shutil.which("gcc"),
                PMG_TEST_PATH=os.environ["PATH"], LD_LIBRARY_PATH=f"{prefix}/lib",
                PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig", HOME=str(Path(prefix).parent), PMGC=str(ROOT))


def check_example(count, path, env, folder):
    """Writes the named blocks, runs `sh works` and `sh run`, compares with the `text` block that follows the latter."""
    commands = None
    (folder / "dsl_examples").symlink_to(ROOT / "dsl_examples")
    for line, tag, name, text, before in blocks(path.read_text()):
        if tag == "sh" and name == "run":
            commands = text
        elif (tag, name) == ("sh", "works"):
            count(f"{path.name}:{line}", complaint_of(run(["bash", "-ec", before + text], folder, env)))
        elif name:
            (folder / name).write_text(text)
        elif tag == "text" and commands:
            done = run(["bash", "-ec", commands], folder, env)
            wrong = complaint_of(done)
            if not wrong and done.stdout != text:
                wrong = f"printed\n{done.stdout}instead of\n{text}"
            count(f"{path.name}:{line}", wrong)
            commands = None


def check_real_data(count, path, env, folder):
    """Runs `sh small64` and `python small64`, which are to succeed; the next one of a page finds what it has made."""
    data = Path(os.environ.get("PMG_TEST_DATA", "")) / "dmri" / "small64"
    for line, tag, name, text, before in blocks(path.read_text()):
        if tag not in ("sh", "python") or name != "small64":
            continue
        if not data.is_absolute() or not data.is_dir():
            count.skipped += 1
            continue
        for file in (*data.iterdir(), ROOT / "dsl_examples"):
            if not (folder / file.name).exists():
                (folder / file.name).symlink_to(file)
        done = run(["bash", "-ec", before + (text if tag == "sh" else "")], folder, env)
        if tag == "python" and done.returncode == 0:
            done = run([sys.executable, "-c", text], folder, env)
        count(f"{path.name}:{line}", complaint_of(done))


def check_pictures(count):
    """Pictures are what is drawn from records and from the data set, if PMG_TEST_DATA has it."""
    count("sizes", complaint_of(run(["bench/sizes.py", "--check"])))
    if (Path(os.environ.get("PMG_TEST_DATA", "")) / "dmri" / "small64" / "det_phi.tsv.gz").is_file():
        count("pictures", complaint_of(run(["scripts/pictures.py", "--check"])))
    else:
        count.skipped += 1


def each_document(count, check):
    """check(count, path, folder) for each document with a folder of its own, two at a time."""
    def checked(path):
        part = Count()
        with tempfile.TemporaryDirectory() as folder:
            check(part, path, Path(folder))
        return part

    with ThreadPoolExecutor(int(os.environ.get("PMG_TEST_JOBS", 2))) as pool:
        for part in pool.map(checked, DOCUMENTS):
            count.add(part)


def main(build):
    def check_text(count, path, folder):
        check_programs(count, path, ROOT / build / "pmgc", folder)
        check_links(count, path)
        check_unrun(count, path, build)
        count(path.name, complaint_of(run(["scripts/guide.py", "--check", path])))

    count = Count()
    count("grammar", complaint_of(run(["scripts/grammar.py", "--check"])))
    count("reference", complaint_of(run(["scripts/reference.py", "--check"])))
    check_pictures(count)
    each_document(count, check_text)
    with tempfile.TemporaryDirectory() as home:
        prefix = f"{home}/.local"
        count("make install", complaint_of(run(["make", "-s", "install", f"PREFIX={prefix}"])))
        env = environment(prefix)
        each_document(count, lambda part, path, folder: check_example(part, path, env, folder))
        each_document(count, lambda part, path, folder: check_real_data(part, path, env, folder))
    print(f"{count.passed} passed, {count.failed} failed" + (f", {count.skipped} skipped" if count.skipped else ""))
    return int(count.failed > 0)


sys.exit(main(sys.argv[1]))
