"""`python -m tests.fuzz --executions N --seed S --seconds T`: the fuzzer without atheris."""

import sys

from tests.fuzz.driver import main

sys.exit(main())
