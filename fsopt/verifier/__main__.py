"""``python verifier proof.json``: the verifier alone, from a copy of its folder, without fsopt."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))

from verifier.verify import main  # type: ignore[import-not-found]

sys.exit(main())
