"""``python -m fsopt``."""

from fsopt.cli import main

main()
