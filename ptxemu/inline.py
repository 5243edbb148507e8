"""Device functions copied into their callers, so that one flat body remains."""

from __future__ import annotations

from .errors import PtxError
from .ir import Address, Instr, Label, Not, Pair, Reg, Symbol, Vector
from .operands import CARRY_READERS


class Inliner:
    """Copies device functions into their callers, so that one flat body remains."""

    def __init__(self, module):
        self.module = module
        self.body, self.locals, self.shared, self.functions = [], {}, {}, []
        self.tables = {}
        self.serial = 0
        self.carry = Reg("CC", "pred")

    def run(self, function):
        self.functions.append(function.name)
        self.copy(function, "", {v.name: Symbol(v.name) for v in function.params}, (function.name,), None)

    def copy(self, function, suffix, names, stack, end):
        for variable in function.variables.values():
            if variable.space == "shared":
                self.shared.setdefault(variable.name, variable)
                names[variable.name] = Symbol(variable.name)
            else:
                names[variable.name] = Symbol(variable.name + suffix)
                self.locals[variable.name + suffix] = variable
        registers = {}

        def renamed(operand):
            if isinstance(operand, Reg):
                if not suffix:
                    return operand
                if operand not in registers:
                    registers[operand] = Reg(operand.name + suffix, operand.type)
                return registers[operand]
            if isinstance(operand, Symbol):
                found = names.get(operand.name)
                return operand if found is None else Symbol(found.name, found.offset + operand.offset)
            if isinstance(operand, Vector):
                return Vector(tuple(renamed(item) for item in operand.items))
            if isinstance(operand, Pair):
                return Pair(renamed(operand.first), renamed(operand.second))
            if isinstance(operand, Not):
                return Not(renamed(operand.reg))
            if isinstance(operand, Address):
                return Address(renamed(operand.base), operand.offset, tuple(renamed(item) for item in operand.rest))
            return operand

        for name, labels in function.tables.items():
            self.tables[name + suffix] = [label + suffix for label in labels]
        for item in function.body:
            if isinstance(item, Label):
                self.body.append(Label(item.name + suffix))
                continue
            guard = item.guard and (renamed(item.guard[0]), item.guard[1])
            if item.op == "call":
                self.call(item, [renamed(o) for o in item.operands], guard, stack)
            elif item.op == "ret" and end is not None:
                self.body.append(Instr("bra", ("uni",), [Symbol(end)], guard, item.ptx_line, item.loc))
            elif item.op == "bra":
                self.body.append(
                    Instr(item.op, item.mods, [Symbol(item.operands[0].name + suffix)], guard, item.ptx_line, item.loc)
                )
            elif item.op == "brx":
                operands = [renamed(item.operands[0]), Symbol(item.operands[1].name + suffix)]
                self.body.append(Instr(item.op, item.mods, operands, guard, item.ptx_line, item.loc))
            else:
                operands = [renamed(o) for o in item.operands]
                if item.op in CARRY_READERS or "cc" in item.mods:
                    operands.append(self.carry)
                self.body.append(Instr(item.op, item.mods, operands, guard, item.ptx_line, item.loc))

    def call(self, ins, operands, guard, stack):
        where = f"line {ins.ptx_line}"
        lists = [o for o in operands if isinstance(o, Vector)]
        at = next((i for i, o in enumerate(operands) if not isinstance(o, Vector)), None)
        callee = operands[at]
        if not isinstance(callee, Symbol):
            raise PtxError(f"{where}: calls through function pointers are not supported; call the function by name")
        function = self.module.functions.get(callee.name)
        if function is None or function.body is None:
            if callee.name == "__assertfail":
                self.body.append(Instr("trap", ("assert",), [], guard, ins.ptx_line, ins.loc))
                return
            raise PtxError(f"{where}: function {callee.name} has no body in this PTX: {_cure(callee.name)}")
        if callee.name in stack:
            raise PtxError(f"{where}: recursive call of {callee.name} is not supported; write it as a loop")
        returns = lists[0] if at == 1 else Vector(())
        arguments = lists[-1] if len(lists) > (at == 1) else Vector(())
        self.serial += 1
        suffix = f"#{self.serial}"
        names = {}
        for variable, actual in zip(function.returns + function.params, returns.items + arguments.items, strict=False):
            if not isinstance(actual, Symbol):
                raise PtxError(f"{where}: call arguments must be .param variables; compile for ABI version 3 or later")
            names[variable.name] = actual
        skip = f"$call_end{suffix}"
        if guard:
            self.body.append(Instr("bra", (), [Symbol(skip)], (guard[0], not guard[1]), ins.ptx_line, ins.loc))
        self.functions.append(function.name)
        self.copy(function, suffix, names, (*stack, callee.name), skip)
        self.body.append(Label(skip))


def _cure(function: str) -> str:
    """Say what to do about a call of a function that the compiler left to a library."""
    if "half" in function or "bfloat16" in function:
        return "Numba leaves FP16 and BF16 arithmetic to a library; write this kernel in CUDA C++ (gl.cuda_source)"
    return "remove the call (printf and device-side launches are not supported by ptxemu)"
