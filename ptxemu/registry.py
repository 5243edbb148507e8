"""Tables of the supported instructions. Each ``ops_*`` file registers its own."""

NATIVE = {}  # mnemonic -> handler(emitter, instr, site): writes LLVM IR
COLLECTIVE = {}  # mnemonic -> handler(machine, segment, instr, site, lanes): runs for a whole group of lanes


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
