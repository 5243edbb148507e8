"""Makes the case tables beside the tests importable by name, from here and from the recorders in tools/."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
