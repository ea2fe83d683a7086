"""Measure how a server holds a load: many users at once, each with its own texts."""
