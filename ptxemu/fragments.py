"""Fragment layouts of the warp-wide matrix instructions."""


def wmma_width(ins):
    return 4
