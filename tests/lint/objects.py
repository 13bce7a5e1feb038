# SPDX-License-Identifier: MIT
"""What the compiled libraries show: no mutable state, nobody below the driver prints or exits, no global name twice,
what asks for memory ahead is not left out by the C compiler, and files do not use each other in circles."""
import platform
import re
import subprocess

LIBRARIES = ("libpmgc.a", "libpmgrt.a")
FORBIDDEN = set("exit _exit _Exit abort __assert_fail printf vprintf puts putchar perror __printf_chk "
                "__vprintf_chk stdout stderr".split())
MEMBER = re.compile(r"^(\S+\.o):\s+file format")
SYMBOL = re.compile(r"^[0-9a-f]+ .{7} (\S+)\s+[0-9a-f]+\s+(?:\.hidden )?(\S+)$")


def listing(*files, what="-t"):
    run = subprocess.run(["objdump", what, *map(str, files)], capture_output=True, check=False)
    if run.returncode != 0:
        raise SystemExit(run.stderr.decode().strip())
    return run.stdout.decode()


def symbols(tree):
    """(object file, section, symbol) of the libraries."""
    for library in LIBRARIES:
        member = ""
        for row in listing(tree.build / library).splitlines():
            found = MEMBER.match(row)
            if found:
                member = f"{library}({found.group(1)})"
            found = SYMBOL.match(row)
            if found and found.group(1) != found.group(2):
                yield member, found.group(1), found.group(2)


def mutable_state(tree):
    for member, section, symbol in symbols(tree):
        if re.match(r"\.(data(?!\.rel\.ro)|bss|tdata|tbss)|\*COM\*", section):
            yield f"{member}: {symbol} is state that outlives a call"


def prints_or_exits(tree):
    for member, section, symbol in symbols(tree):
        if section == "*UND*" and symbol in FORBIDDEN:
            yield f"{member}: calls {symbol}"


def global_twice(tree):
    """A linker takes the first of two members of libraries that define a name, and may say nothing."""
    defined, member = {}, ""
    for library in LIBRARIES:
        for row in listing(tree.build / library).splitlines():
            found = MEMBER.match(row)
            if found:
                member = f"{library}({found.group(1)})"
            found = SYMBOL.match(row)
            if found and row[17] == "g" and found.group(1) != "*UND*":
                if found.group(2) in defined:
                    yield f"{defined[found.group(2)]} and {member} both define {found.group(2)}"
                defined[found.group(2)] = member


def copies_ask(tree):
    """Copies into blocks ask for rows, and for segments."""
    if platform.machine() != "x86_64":
        return
    code = re.split(r"(?=^\S+\.o:)", listing(tree.build / "libpmgrt.a", what="-d"), flags=re.M)
    copies = [part for part in code if part.startswith("block_copy")]
    if not copies:
        yield "libpmgrt.a: there are no copies of blocks"
    for part in copies:
        if len(re.findall(r"\bprefetch", part)) < 2:
            yield f"libpmgrt.a({part.split(':')[0]}): asks for no memory ahead"


# Folders in which statements and expressions hold each other, and so do the files for them.
NESTED = ("codegen", "sema")


def calls(tree):
    """(a file of the compiler, one whose function or table it uses), but for those of NESTED."""
    defined, used, name = {}, [], ""
    objects = sorted(path for path in (tree.build / "obj/compiler").rglob("*.o")
                     if path.relative_to(tree.build / "obj/compiler").parts[0] not in NESTED)
    for row in listing(*objects).splitlines():
        found = MEMBER.match(row)
        if found:
            name = found.group(1).split("/obj/")[-1][:-2] + ".c"
        found = SYMBOL.match(row)
        if found and found.group(1) == "*UND*":
            used.append((name, found.group(2)))
        elif found and row[17] in "gw":
            defined[found.group(2)] = name
    return {(user, defined[symbol]) for user, symbol in used if symbol in defined}


def reached(uses, name):
    """The files that a file uses, or that these use, and so on."""
    seen, left = set(), [name]
    while left:
        for other in uses.get(left.pop(), ()):
            if other not in seen:
                seen.add(other)
                left.append(other)
    return seen


def calls_in_circles(tree):
    """Files that use each other, be it by way of others, are one, in several places."""
    uses = {}
    for user, used in calls(tree):
        if user != used:
            uses.setdefault(user, set()).add(used)
    below = {name: reached(uses, name) for name in uses}
    circles = {tuple(sorted(other for other in below[name] if name in below.get(other, ()))) for name in uses}
    for circle in sorted(circles - {()}):
        yield f"{' and '.join(circle)} use each other"


CHECKS = [mutable_state, prints_or_exits, global_twice, copies_ask, calls_in_circles]
