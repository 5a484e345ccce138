"""`python -m toolglot`: the command."""

from __future__ import annotations

from toolglot.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
