"""Voices: how they are found."""
