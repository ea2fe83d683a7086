"""The Mandarin phonemiser."""
