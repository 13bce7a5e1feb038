# SPDX-License-Identifier: MIT
"""What a program means, by docs/language.md: each cell is computed when it is first asked for, from the definition that
gives it, in plain Python. No order of execution, no storage: a cell that needs itself is an error of the generator."""
import itertools
import math

import values as V
from closures import Closures
from values import FLOATS

IDENTITY = {"+=": 0, "*=": 1}


class Wrong(Exception):
    """The generator has made a program that the language does not allow."""


class Definition:
    """Cells `target[subs]` for each point of the ranges, by the first branch (condition or None, value) that holds;
    op: None, or that of a reduce; in_body: of `iterate`; is_next: of a state."""

    def __init__(self, target, subs, ranges, branches, op=None, in_body=False, is_next=False):
        self.target, self.subs, self.ranges, self.branches = target, subs, ranges, branches
        self.op, self.in_body, self.is_next = op, in_body, is_next


class Array:
    """limit: of an index array; in_body: declared inside of `iterate`; init: of a state, (variables, value)."""

    def __init__(self, name, role, t, shape, limit=None, in_body=False, init=None, facts="", fixed=False):
        self.name, self.role, self.t, self.shape, self.limit = name, role, t, shape, limit
        self.in_body, self.init, self.facts, self.fixed = in_body, init, facts, fixed


class Meaning:
    """One program at given sizes, with given inputs: name -> {subscripts: value}."""

    def __init__(self, program, sizes, scalars, inputs):
        self.p, self.sizes, self.scalars = program, sizes, scalars
        self.cells, self.pending, self.by_target, self.loop = {}, {}, {}, {}
        for name, a in program.arrays.items():
            self.cells[name] = dict(inputs[name]) if name in inputs else {}
        self.kinds = {name: a.t for name, a in program.arrays.items()}
        self.code = Closures(self)
        for d in program.definitions:
            self.by_target.setdefault(d.target, []).append(self.compiled(d))
        self.busy = set()
        self.old = {}   # what `inout` arrays hold at first that reductions add to
        for name, a in program.arrays.items():
            if a.role == "inout" and any(d[0].op and not d[0].is_next for d in self.by_target.get(name, [])):
                self.old[name] = dict(self.cells[name])
                self.cells[name].clear()

    def compiled(self, d):
        c = self.code
        branches = [(None if k is None else c.of(k), c.stored(e, self.kinds[d.target])) for k, e in d.branches]
        return d, [c.of(s) for s in d.subs], c.ranges(d.ranges), branches

    def run(self):
        """name -> values of each `out` and `inout` array, row by row."""
        p = self.p
        for a in p.arrays.values():
            if a.role == "state":
                self.begin(a)
        if p.iterate:
            self.iterate()
        results = {a.name: self.whole(a) for a in p.arrays.values() if a.role in ("out", "inout")}
        self.finish(False)
        return results

    def finish(self, in_body):
        """What no output needs is computed as well, for its mistakes: the interpreter leaves nothing out."""
        for a in self.p.arrays.values():
            if a.role not in ("temp", "func") or a.in_body != in_body:
                continue
            try:
                if a.name not in self.pending:
                    self.pending[a.name] = {}
                    self.enumerate(a.name)
                for k in list(self.pending[a.name]):
                    self.get(a.name, k)
            except V.Undecided:
                self.busy.clear()

    def extents(self, a):
        return [max(self.code.of(e)({}), 0) for e in a.shape]

    def whole(self, a):
        return [self.get(a.name, k) for k in itertools.product(*map(range, self.extents(a)))]

    def begin(self, a):
        names, e = a.init
        f = self.code.stored(e, a.t)
        for k in itertools.product(*map(range, self.extents(a))):
            self.cells[a.name][k] = f(dict(zip(names, k)))

    def get(self, name, k):
        try:
            return self.cells[name][k]
        except KeyError:
            return self.demand(name, k)

    def demand(self, name, k):
        """A cell that has no value yet."""
        if name not in self.pending:
            self.pending[name] = {}
            self.enumerate(name)
            if k in self.cells[name]:
                return self.cells[name][k]
        entry = self.pending[name].get(k)
        if entry is None:
            return self.default(name, k)
        if (name, k) in self.busy:
            raise Wrong(f"{name}{k} needs itself")
        self.busy.add((name, k))
        value = self.cells[name][k] = entry[0](entry[1])
        self.busy.discard((name, k))
        return value

    def default(self, name, k):
        a = self.p.arrays[name]
        if a.role not in ("out", "temp") or any(not 0 <= i < n for i, n in zip(k, self.extents(a))):
            raise Wrong(f"{name}{k} is not defined")
        op = next((d[0].op for d in self.by_target.get(name, []) if d[0].op), None)
        self.cells[name][k] = self.identity(op, a.t)
        return self.cells[name][k]

    @staticmethod
    def identity(op, t):
        if t == "bool":
            return False
        if op in ("min=", "max="):
            if t in FLOATS:
                return math.inf if op == "min=" else -math.inf
            return V.limits(t)[op == "min="]
        i = IDENTITY.get(op, 0)
        return float(i) if t in FLOATS else i

    def enumerate(self, name):
        """Which definition gives which cell; reductions are added up."""
        mine = [d for d in self.by_target.get(name, []) if not d[0].is_next and (
            not d[0].in_body or self.p.arrays[name].in_body)]
        for d in mine:
            if d[0].op is None:
                for k, f, env in self.points(d, dict(self.loop)):
                    if k in self.pending[name]:
                        raise Wrong(f"{name}{k} is defined twice")
                    self.pending[name][k] = (f, env)
        reduces = [d for d in mine if d[0].op]
        self.cells[name].update(self.old.get(name, {}))
        if reduces:
            for k in list(self.pending[name]):
                self.demand(name, k)
            self.reduce(name, reduces)

    def points(self, d, env):
        """(subscripts, value, variables) of each point that a branch has."""
        _, subs, ranges, branches = d
        for env in ranges(env):
            for condition, f in branches:
                if condition is None or condition(env):
                    yield tuple(s(env) for s in subs), f, env
                    break

    def reduce(self, name, reduces, cells=None):
        """Accumulates: what stands in a cell is among the terms."""
        cells = self.cells[name] if cells is None else cells
        t, op, terms = self.kinds[name], reduces[0][0].op, {}
        for d in reduces:
            for k, f, env in self.points(d, dict(self.loop)):
                terms.setdefault(k, []).append((f(env), f.shape(env) if op == "+=" else None))
        for k, new in terms.items():
            old = cells.get(k)
            if old is None:
                old = self.identity(op, t)
                new = new if op == "+=" else [(old, None)] + new
            elif op == "+=":
                new = [(old, V.shape_of(old))] + new
            else:
                new = [(old, None)] + new
            cells[k] = self.code.accumulated(op, t, new)

    def iterate(self):
        var, lo, hi, until = self.p.iterate
        first, last = self.code.of(lo)({}), self.code.of(hi)({})
        stop = self.code.of(until) if until is not None else None
        inside = [d for ds in self.by_target.values() for d in ds if d[0].in_body]
        for it in range(first, last):
            if stop and stop({}):
                break
            self.loop = {var: it}
            self.fresh()
            for name in {d[0].target for d in inside}:
                if not self.p.arrays[name].in_body:
                    self.across(name, [d for d in inside if d[0].target == name and not d[0].is_next])
            self.finish(True)
            self.commit([d for d in inside if d[0].is_next])
        self.loop = {}

    def fresh(self):
        for a in self.p.arrays.values():
            if a.in_body:
                self.cells[a.name].clear()
                self.pending.pop(a.name, None)

    def across(self, name, definitions):
        """What is defined or added to over all iterations."""
        plain = [d for d in definitions if d[0].op is None]
        for d in plain:
            for k, f, env in self.points(d, dict(self.loop)):
                if k in self.cells[name]:
                    raise Wrong(f"{name}{k} is defined twice")
                self.cells[name][k] = f(env)
        reduces = [d for d in definitions if d[0].op]
        if reduces:
            if name not in self.pending and any(not d[0].in_body for d in self.by_target[name]):
                self.pending[name] = {}
                self.enumerate(name)
                for k in list(self.pending[name]):
                    self.demand(name, k)
            self.reduce(name, reduces)

    def commit(self, nexts):
        new = {}
        for d in nexts:
            cells = new.setdefault(d[0].target, {})
            if d[0].op is None:
                for k, f, env in self.points(d, dict(self.loop)):
                    cells[k] = f(env)
        for name in {d[0].target for d in nexts if d[0].op}:
            cells = new[name]
            for k, v in self.cells[name].items():
                cells.setdefault(k, v)
            self.reduce(name, [d for d in nexts if d[0].op and d[0].target == name], cells)
        for name, cells in new.items():
            self.cells[name].update(cells)
