"""Voices: how they are found, measured and kept."""
