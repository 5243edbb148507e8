"""The Specs of the kernels for tensor cores driven by warps, chapters 10 to 14, in the order of the climb."""

CH10 = ()

CH11 = ()

CH12 = ()

CH13 = ()

CH14 = ()

SPECS = (*CH10, *CH11, *CH12, *CH13, *CH14)
