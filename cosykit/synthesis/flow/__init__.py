"""From speech tokens to a mel."""
