"""``python -m separatrix``: the command line."""

from separatrix.cli import main

main(prog_name="separatrix")
