"""Function bodies: statements, operands, scopes and labels."""

from __future__ import annotations

import re

from .errors import PtxError
from .ir import BITS, SINK, Address, Float, Instr, Int, Label, ModuleIR, Not, Pair, Reg, Special, Symbol, Vector
from .lexer import number, tokenize

SPACES = {".global", ".const", ".shared", ".local", ".param"}
_SPECIAL = re.compile(
    r"%(n?tid|n?ctaid|cluster_n?ctaid|n?clusterid)\.[xyzw]$|%(laneid|warpid|nwarpid|smid|nsmid|gridid|clock|clock_hi|clock64|globaltimer"
    r"|globaltimer_lo|globaltimer_hi|lanemask_(?:eq|le|lt|ge|gt)|dynamic_smem_size|total_smem_size|aggr_smem_size|cluster_ctarank"
    r"|cluster_nctarank|is_explicit_cluster|reserved_smem_offset\w*|pm\d+|envreg\d+|current_graph_exec)$"
)
_WARP_SZ = Int(32)
_LOOK_AHEAD = 400  # tokens


class _Scope:
    """Registers and labels declared between one pair of braces."""

    def __init__(self, parent, serial):
        self.parent, self.serial = parent, serial
        self.names, self.families, self.labels = {}, {}, {}


class BodyParser:
    """The token stream and everything between a function's braces."""

    def __init__(self, text):
        self.kinds, self.values, self.lines = tokenize(text)
        self.i = 0
        self.module = ModuleIR("", "", {}, {}, {})
        self.scope = None
        self.function = None
        self.loc = None
        self.scopes = 0
        self.inlined = {}  # (file, line, column) of inlined code -> that of the call

    def fail(self, what):
        raise PtxError(f"line {self.lines[self.i]}: {what}")

    def next(self):
        value = self.values[self.i]
        self.i += 1
        return value

    def peek(self):
        return self.values[self.i]

    def accept(self, value):
        if self.values[self.i] == value:
            self.i += 1
            return True
        return False

    def expect(self, value):
        if self.values[self.i] != value:
            self.fail(f"expected {value!r} but found {self.values[self.i]!r}")
        self.i += 1

    def body(self):
        self.scopes += 1
        self.scope = _Scope(None, 0)
        depth = 1
        body = self.function.body
        while depth:
            kind, word = self.kinds[self.i], self.values[self.i]
            if kind == "end":
                self.fail("the text ends inside a function")
            if word == "{":
                self.i += 1
                depth += 1
                self.scopes += 1
                self.scope = _Scope(self.scope, self.scopes)
            elif word == "}":
                self.i += 1
                depth -= 1
                self.scope = self.scope.parent
            elif word == ";":
                self.i += 1
            elif word[0] == ".":
                self.i += 1
                self.body_directive(word)
            elif word == "@" or kind == "name":
                if self.values[self.i + 1] == ":" and kind == "name":
                    self.label(word, body)
                else:
                    body.append(self.instruction())
            else:
                self.fail(f"unexpected {word!r}")

    def label(self, word, body):
        self.i += 2
        self.inlined.clear()
        if self.peek() in (".branchtargets", ".calltargets", ".callprototype"):
            if self.next() == ".branchtargets":
                self.function.tables[word] = (self.scope, self.names_until_semicolon())
            else:
                self.skip_statement()
            return
        unique = word if self.scope.parent is None else f"{word}@{self.scope.serial}"
        self.scope.labels[word] = unique
        body.append(Label(unique))

    def names_until_semicolon(self):
        out = []
        while True:
            word = self.next()
            if word == ";":
                return out
            if word != ",":
                out.append(word)

    def body_directive(self, word):
        if word == ".loc":
            self.loc_directive()
        elif word == ".reg":
            self.register_declaration()
        elif word in SPACES:
            for variable in self.variable(word[1:]):
                if self.scope.parent is not None:
                    plain, variable.name = variable.name, f"{variable.name}@{self.scope.serial}"
                    self.scope.names[plain] = variable.name
                self.function.variables[variable.name] = variable
        elif word == ".pragma":
            self.skip_statement()
        elif word == ".file":
            self.file_directive()
        else:
            self.i -= 1
            self.fail(f"directive {word!r} is not supported inside a function")

    def loc_directive(self):
        """``.loc file line column[, function_name label, inlined_at file line column]``; line 0 keeps the previous
        line.
        """
        file, line, column = int(self.next()), int(self.next()), int(self.next())
        loc = (file, line)
        while self.kinds[self.i] not in ("newline", "end"):
            if self.next() == "inlined_at":
                outer = self.outermost((int(self.next()), int(self.next()), int(self.next())))
                self.inlined[file, line, column] = outer
                if outer[0] != file:  # code inlined from a header: show the line that uses it
                    loc = outer[:2]
        self.i += self.kinds[self.i] == "newline"
        if loc[1]:
            self.loc = loc

    def outermost(self, place):
        """Where the code at ``place`` = (file, line, column), itself inlined perhaps, is called from: what the nearest
        directive about it says, in this basic block or next in the text.
        """
        if place in self.inlined:
            return self.inlined[place]
        words = [".loc", *map(str, place)]
        for at in range(self.i, min(self.i + _LOOK_AHEAD, len(self.values) - 12)):
            if self.values[at : at + 4] == words and "inlined_at" in self.values[at : at + 9]:
                at = self.values.index("inlined_at", at)
                return tuple(int(value) for value in self.values[at + 1 : at + 4])
        return place

    def register_declaration(self):
        kind = None
        while self.peek().startswith("."):
            word = self.next()
            if word[1:] not in BITS:
                self.fail(f"registers of type {word!r} are not supported")
            kind = word[1:]
        while True:
            name = self.next()
            unique = name if self.scope.parent is None else f"{name}@{self.scope.serial}"
            if self.accept("<"):
                self.scope.families[name] = (kind, unique, number(self.next()))
                self.expect(">")
            else:
                self.scope.names[name] = Reg(unique, kind)
            if not self.accept(","):
                break
        self.accept(";")

    def instruction(self):
        guard = None
        line = self.lines[self.i]
        if self.accept("@"):
            negated = self.accept("!")
            guard = (self.name_operand(self.next()), negated)
            if not isinstance(guard[0], Reg):
                self.fail("after @ must stand a predicate register")
        if self.kinds[self.i] != "name":
            self.fail(f"expected an instruction but found {self.peek()!r}")
        op, *mods = self.next().split(".")
        operands = []
        while self.peek() != ";":
            if self.accept(","):
                continue
            operands.append(self.operand())
        self.i += 1
        return Instr(op, tuple(mods), operands, guard, line, self.loc, self.scope)

    def operand(self):
        kind, word = self.kinds[self.i], self.next()
        if kind == "name":
            out = self.name_operand(word)
            if self.accept("|"):
                return Pair(out, self.operand())
            if isinstance(out, Symbol) and self.peek() in ("+", "-"):
                sign = -1 if self.next() == "-" else 1
                return Symbol(out.name, sign * number(self.next()))
            return out
        if kind == "number":
            return self.literal(word, 1)
        if word == "-":
            return self.literal(self.next(), -1)
        if word == "~":
            return Int(~number(self.next()))
        if word == "!":
            return Not(self.name_operand(self.next()))
        if word == "[":
            return self.address()
        if word in "{(":
            close = "}" if word == "{" else ")"
            items = []
            while not self.accept(close):
                if not self.accept(","):
                    items.append(self.operand())
            return Vector(tuple(items))
        self.i -= 1
        self.fail(f"cannot read operand {word!r}")

    def literal(self, text, sign):
        value = number(text)
        if isinstance(value, tuple):
            bits = value[1] if sign > 0 else value[1] ^ (1 << (value[2] - 1))
            return Float(bits, value[2])
        return Float(sign * value, 0) if isinstance(value, float) else Int(sign * value)

    def address(self):
        base = self.operand()
        offset = 0
        rest = []
        if isinstance(base, Symbol):
            base, offset = Symbol(base.name), base.offset
        while not self.accept("]"):
            if self.peek() in "+-":
                sign = -1 if self.next() == "-" else 1
                if self.accept("-"):
                    sign = -sign
                value = self.operand()
                if not isinstance(value, Int):
                    self.fail("an address may add only a constant to its base")
                offset += sign * value.value
            elif self.accept(","):
                rest.append(self.operand())
            else:
                self.fail(f"cannot read {self.peek()!r} in an address")
        return Address(base, offset, tuple(rest))

    def name_operand(self, word):
        if word == "_":
            return SINK
        scope = self.scope
        while scope is not None:
            found = scope.names.get(word)
            if found is not None:
                return Symbol(found) if isinstance(found, str) else found
            stem = word.rstrip("0123456789")
            family = scope.families.get(stem) if len(stem) < len(word) else None
            if family is not None and int(word[len(stem) :]) < family[2]:
                reg = scope.names[word] = Reg(family[1] + word[len(stem) :], family[0])
                return reg
            scope = scope.parent
        if word[0] == "%":
            if _SPECIAL.match(word):
                return Special(word[1:])
            self.i -= 1
            self.fail(f"register {word} is not declared")
        return _WARP_SZ if word == "WARP_SZ" else Symbol(word)

    def resolve_labels(self, function):
        """Point branches and branch tables at unique labels."""

        def resolve(scope, name, line):
            while scope is not None:
                if name in scope.labels:
                    return scope.labels[name]
                scope = scope.parent
            raise PtxError(f"line {line}: label {name} is not defined in {function.name}")

        for item in function.body:
            if isinstance(item, Instr) and item.op == "bra":
                item.operands = [Symbol(resolve(item.scope, item.operands[0].name, item.ptx_line))]
            if isinstance(item, Instr):
                item.scope = None
        function.tables = {
            name: [resolve(scope, label, function.ptx_line) for label in labels]
            for name, (scope, labels) in function.tables.items()
        }
