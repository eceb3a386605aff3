"""python -m attncalc"""

import sys

from attncalc.cli import main

sys.exit(main())
