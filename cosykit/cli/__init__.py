"""The `cosykit` command, one module per subcommand.

Modules import only Typer and the standard library at the top; everything heavy is
imported by the command that needs it, so that `cosykit --help` answers at once.
"""
