"""Tables of the supported instructions. Each ``ops_*`` file registers its own."""

NATIVE = {}  # mnemonic -> handler(emitter, instr, site): writes LLVM IR
COLLECTIVE = {}  # mnemonic -> handler(machine, segment, instr, site, lanes): runs for a whole group of lanes
PLAN = {}  # mnemonic of a collective -> planner(program, instr): what its handler finds in segment.plan


def native(*names):
    """Register the decorated code generator for the given mnemonics."""

    def add(handler):
        for name in names:
            NATIVE[name] = handler
        return handler

    return add


def collective(*names):
    """Register the decorated group operation for the given mnemonics."""

    def add(handler):
        for name in names:
            COLLECTIVE[name] = handler
        return handler

    return add


def plan(*names):
    """Register the decorated planner: it runs once per instruction, when an entry is loaded, and raises PtxError for
    a form that is not supported.
    """

    def add(planner):
        for name in names:
            PLAN[name] = planner
        return planner

    return add
