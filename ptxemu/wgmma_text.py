"""The sentences of findings around wgmma."""

WGMMA_RULES = {"missing-wgmma-fence", "wgmma-registers", "wgmma-operand-overwritten", "partial-warpgroup"} | {
    "cluster-not-started",
    "cluster-exit",
    "cluster-barrier",
    "setmaxnreg-ignored",
    "setmaxnreg-direction",
}


def wgmma_message(rule, info, other, who, where, detail):
    """See facts.py: ``info``, ``other`` are sites, ``who`` the first thread, ``where`` its addresses in words."""
    if rule == "out-of-bounds":
        which, low, high, limit = detail.split("|")
        return (
            f"the wgmma of {who} reads operand {which} from shared+0x{low} to 0x{high}, beyond the {limit} bytes of "
            "the block's shared memory"
        )
    if rule == "missing-wgmma-fence":
        why = "no wgmma.fence comes before it" if detail == "never" else "they were used since the last wgmma.fence"
        return f"the wgmma of {who} takes registers that nothing orders before it: {why}"
    if rule == "wgmma-registers":
        what, standing = detail.split("|")
        use = "uses an accumulator" if what == "accumulator" else "overwrites a register of operand A"
        return f"{who} {use} of the wgmma of line {other.line}, which is still under way: {standing}"
    if rule == "wgmma-operand-overwritten":
        return f"{who} writes {where[0]}, which the wgmma of line {other.line} still reads"
    if rule == "cluster-not-started":
        return f"{who} accesses shared memory of another block of its cluster, which may not have started yet"
    if rule == "cluster-exit":
        when = "has exited already" if detail == "after" else "may exit before that: nothing orders the two"
        return f"{who} accesses shared memory of another block of its cluster, which {when}"
    if rule == "cluster-barrier":
        twice, early = "arrives at barrier.cluster again without", "waits at barrier.cluster without"
        return f"{who} {twice} having waited" if detail == "twice" else f"{who} {early} having arrived"
    if rule == "setmaxnreg-ignored":
        return "ptxas may ignore setmaxnreg here: without .minnctapersm it need not know the registers at the entry"
    if rule == "setmaxnreg-direction":
        value, have = detail.split("|")
        return f"{who} executes {info.opcode} {value} where its warpgroup has {have} registers per thread: undefined"
    if rule == "partial-warpgroup":
        return f"{info.opcode} is executed by {detail} of the 128 threads of a warpgroup, and is undefined"
    if rule == "non-uniform-operand":
        return f"{who} gives {info.opcode} another {detail} than the first thread of its warpgroup"
    if rule == "missing-copy-wait" and where:
        return (
            f"the wgmma of {who} reads {where[0]}, to which the copy of line {other.line} is still under way; {detail}"
        )
    if rule == "missing-proxy-fence":
        return (
            f"the wgmma of {who} reads {where[0]} through the async proxy, but {detail} wrote it at line {other.line} "
            "through the generic proxy, and no fence.proxy.async stands between"
        )
    if rule == "partial-warp":
        return f"{info.opcode} is executed by {detail} of the 32 threads of a warp, and its result is undefined"
    if rule == "uninitialised-register":
        return f"a register is used that nothing has set ({detail})"
    return detail.replace("\n", "; ") or rule.replace("-", " ")
