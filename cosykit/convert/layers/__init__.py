"""Layers of the official models, as modules that add their nodes to a graph."""
