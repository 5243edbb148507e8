"""PTX text to :class:`ptxemu.ir.ModuleIR`. Names in nested ``{ }`` scopes are made unique; labels are resolved to
unique names.

Grammar: PTX ISA, chapters "Syntax", "State Spaces, Types, and Variables" and "Directives".
"""

from __future__ import annotations

import struct

from .errors import PtxError, made_out
from .ir import BITS, Function, Variable
from .lexer import number
from .parse_body import SPACES, BodyParser

_LINKAGE = {".visible", ".extern", ".weak", ".common"}


class Parser(BodyParser):
    """Recursive descent over the token lists: the module level."""

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
            elif word in _LINKAGE or word in SPACES or word in (".entry", ".func"):
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
            elif word == ".ptr" or word in SPACES:
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


def parse(text):
    """Parse PTX text. Raises PtxError with the PTX line."""
    parser = Parser(text)

    def words():
        line = parser.lines[min(parser.i, len(parser.lines) - 1)]
        shown = [*text.splitlines(), ""][line - 1].strip()[:60]
        return f"line {line}: no PTX that can be read, around {shown!r}: compile it again or check it with ptxas"

    with made_out(words):
        return parser.parse()
