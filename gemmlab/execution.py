"""How notebooks are executed: how long a cell may take, and whether figures are measured or shown as recorded."""

import os

CELL_TIMEOUT_S = 300  # on a GPU a cell may measure a dozen kernels
STATIC = "GEMMLAB_STATIC"


def is_static() -> bool:
    """Tell whether GEMMLAB_STATIC is set: notebooks are executed for their outputs, many at once on one GPU.

    Nothing is timed then, since it would be timed beside the others: records are shown, or that there is none; and live
    views are left out.
    """
    return bool(os.environ.get(STATIC))
