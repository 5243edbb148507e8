"""PTX text to :class:`ptxemu.ir.ModuleIR`. Names in nested ``{ }`` scopes are made unique; labels are resolved to unique names.

Grammar: PTX ISA, chapters "Syntax", "State Spaces, Types, and Variables" and "Directives".
"""

from __future__ import annotations

import re
import struct

from .errors import PtxError
from .ir import (
    BITS, SINK, Address, Float, Function, Instr, Int, Label, ModuleIR, Not, Pair, Reg, Special, Symbol, Variable, Vector,
)
from .lexer import number, tokenize

_LINKAGE = {".visible", ".extern", ".weak", ".common"}
_SPACES = {".global", ".const", ".shared", ".local", ".param"}
_SPECIAL = re.compile(
    r"%(n?tid|n?ctaid|cluster_n?ctaid|n?clusterid)\.[xyzw]$|%(laneid|warpid|nwarpid|smid|nsmid|gridid|clock|clock_hi|clock64|globaltimer"
    r"|globaltimer_lo|globaltimer_hi|lanemask_(?:eq|le|lt|ge|gt)|dynamic_smem_size|total_smem_size|aggr_smem_size|cluster_ctarank"
    r"|cluster_nctarank|is_explicit_cluster|reserved_smem_offset\w*|pm\d+|envreg\d+|current_graph_exec)$"
)
_WARP_SZ = Int(32)


class _Scope:
    """Registers and labels declared between one pair of braces."""

    def __init__(self, parent, serial):
        self.parent, self.serial = parent, serial
        self.names, self.families, self.labels = {}, {}, {}


class Parser:
    """Recursive descent over the token lists."""

    def __init__(self, text):
        self.kinds, self.values, self.lines = tokenize(text)
        self.i = 0
        self.module = ModuleIR("", "", {}, {}, {})
        self.scope = None
        self.function = None
        self.loc = None
        self.scopes = 0

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

    # module level

    def parse(self):
        while self.kinds[self.i] != "end":
            word = self.next()
            if word == ".version":
                self.module.version = self.next()
            elif word == ".target":
                self.module.target = self.next()
                while self.accept(","):
                    self.next()
            elif word == ".address_size":
                if self.next() != "64":
                    self.fail("only 64-bit addresses are supported: compile with -m64")
            elif word == ".file":
                self.file_directive()
            elif word == ".section":
                self.skip_braces()
            elif word in _LINKAGE or word in _SPACES or word in (".entry", ".func"):
                self.i -= 1
                self.declaration()
            elif word in (".pragma", ".alias"):
                self.skip_statement()
            elif word == ".loc":
                self.loc_directive()
            else:
                self.i -= 1
                self.fail(f"unexpected {word!r} at module level")
        if not self.module.target:
            raise PtxError("no .target directive: this is not a PTX module")
        return self.module

    def file_directive(self):
        index = int(self.next())
        self.module.files[index] = self.next().strip('"')
        while self.kinds[self.i] not in ("newline", "end"):
            self.i += 1
        if self.kinds[self.i] == "newline":
            self.i += 1

    def skip_statement(self):
        while self.next() != ";":
            if self.kinds[self.i] == "end":
                self.fail("the text ends in the middle of a statement")

    def skip_braces(self):
        while self.next() != "{":
            pass
        depth = 1
        while depth:
            word = self.next()
            depth += (word == "{") - (word == "}")
            if self.kinds[self.i] == "end" and depth:
                self.fail("the text ends inside braces")

    def declaration(self):
        extern = False
        while self.peek() in _LINKAGE:
            extern |= self.next() == ".extern"
        if self.peek() in (".entry", ".func"):
            self.function_declaration(self.next() == ".entry")
        else:
            for variable in self.variable(self.next()[1:], extern):
                self.module.variables[variable.name] = variable

    def variable(self, space, extern=False):
        """Parse what follows a state space up to the semicolon; return the list of variables."""
        align, vec, kind = None, 1, None
        while self.peek().startswith("."):
            word = self.next()
            if word == ".align":
                align = int(self.next())
            elif word in (".v2", ".v4"):
                vec = int(word[2])
            elif word == ".attribute":
                self.skip_parens()
            elif word[1:] in BITS:
                kind = word[1:]
            elif word == ".ptr" or word in _SPACES:
                continue
            else:
                self.fail(f"unexpected {word!r} in a declaration")
        out = []
        while True:
            name = self.next()
            count, is_array = vec, False
            while self.accept("["):
                is_array = True
                if self.accept("]"):
                    count = 0
                else:
                    count *= number(self.next())
                    self.expect("]")
            width = BITS[kind] // 8
            data, relocations = None, ()
            if self.accept("="):
                data, relocations = self.initializer(kind)
                count = count or (len(data) // width if is_array else vec)
                data = data.ljust(count * width, b"\0")
            out.append(Variable(name, space, kind, count * width, align or width * vec, data, extern, relocations))
            if not self.accept(","):
                break
        self.accept(";")
        return out

    def skip_parens(self):
        self.expect("(")
        depth = 1
        while depth:
            word = self.next()
            depth += (word == "(") - (word == ")")

    def initializer(self, kind):
        width = BITS[kind] // 8
        data, relocations = bytearray(), []
        depth = 0
        while True:
            word = self.next()
            if word == "{":
                depth += 1
            elif word == "}":
                depth -= 1
            elif word == ",":
                pass
            elif word == "-":
                data += self.literal_bytes(self.next(), kind, True)
            elif self.kinds[self.i - 1] == "number":
                data += self.literal_bytes(word, kind, False)
            elif self.kinds[self.i - 1] == "name":
                generic = word == "generic"
                if generic:
                    self.expect("(")
                    word = self.next()
                    self.expect(")")
                addend = 0
                if self.accept("+"):
                    addend = number(self.next())
                relocations.append((len(data), width, word, addend, generic))
                data += bytes(width)
            else:
                self.fail(f"cannot read {word!r} in an initializer")
            if depth == 0 and self.peek() in (";", ",") or self.kinds[self.i] == "end":
                return bytes(data), tuple(relocations)

    def literal_bytes(self, text, kind, negative):
        value = number(text)
        width = BITS[kind] // 8
        if isinstance(value, tuple):
            return value[1].to_bytes(value[2] // 8, "little")[:width]
        if negative:
            value = -value
        if kind in ("f32", "f64"):
            return struct.pack("<f" if kind == "f32" else "<d", value)
        return (value & ((1 << (8 * width)) - 1)).to_bytes(width, "little")

    def param_list(self):
        params = []
        if not self.accept("("):
            return params
        while not self.accept(")"):
            word = self.next()
            if word == ",":
                continue
            if word == ".reg":
                self.fail("register parameters of functions are not supported: compile with a newer toolkit")
            align, kind = None, None
            while self.peek().startswith("."):
                word = self.next()
                if word == ".align":
                    align = int(self.next())
                elif word[1:] in BITS:
                    kind = word[1:]
            name = self.next()
            count, pointer_align = 1, align
            if self.accept("["):
                count = 0 if self.peek() == "]" else number(self.next())
                self.expect("]")
            elif kind is not None:
                pointer_align = None  # ".ptr .align n" speaks of what the pointer points at
            width = BITS[kind] // 8
            params.append(Variable(name, "param", kind, width * count, pointer_align or width))
        return params

    def function_declaration(self, is_entry):
        returns = [] if is_entry or self.peek() != "(" else self.param_list()
        line = self.lines[self.i]
        name = self.next()
        function = Function(name, is_entry, self.param_list(), returns, ptx_line=line)
        while self.peek() not in ("{", ";"):
            word = self.next()
            if not word.startswith("."):
                self.i -= 1
                self.fail(f"unexpected {word!r} in the head of {name}")
            numbers = []
            while self.kinds[self.i] == "number" or self.peek() == ",":
                if self.peek() != ",":
                    numbers.append(number(self.peek()))
                self.i += 1
            function.directives[word[1:]] = tuple(numbers)
        if self.accept(";"):
            self.module.functions.setdefault(name, function)
            return
        self.module.functions[name] = function
        self.function, self.registers, self.loc = function, {}, None
        function.body = []
        self.expect("{")
        self.body()
        self.resolve_labels(function)

    # function bodies

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
        elif word in _SPACES:
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
        """``.loc file line column[, function_name label, inlined_at file line column]``; line 0 keeps the previous line."""
        file, line = int(self.next()), int(self.next())
        loc = (file, line)
        while self.kinds[self.i] not in ("newline", "end"):
            if self.next() == "inlined_at":
                outer = (int(self.next()), int(self.next()))
                if outer[0] != file:  # code inlined from a header: show the line that uses it
                    loc = outer
        self.i += self.kinds[self.i] == "newline"
        if loc[1]:
            self.loc = loc

    def register_declaration(self):
        kind = None
        while self.peek().startswith(".") :
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
            name: [resolve(scope, label, function.ptx_line) for label in labels] for name, (scope, labels) in function.tables.items()
        }


def parse(text):
    """Parse PTX text. Raises PtxError with the PTX line."""
    return Parser(text).parse()
