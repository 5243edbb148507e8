"""The Specs of the kernels for Hopper's warpgroups, chapters 15 to 19, in the order of the climb."""

CH15 = ()
CH16 = ()
CH17 = ()
CH18 = ()
CH19 = ()

SPECS = (*CH15, *CH16, *CH17, *CH18, *CH19)
