"""Speech over HTTP: thin protocols over the one function that makes audio."""
