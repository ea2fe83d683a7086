"""The official models, as graphs."""
