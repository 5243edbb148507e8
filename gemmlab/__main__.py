"""`python -m gemmlab`: see gemmlab.cli."""

import sys

from gemmlab.cli import main

sys.exit(main())
