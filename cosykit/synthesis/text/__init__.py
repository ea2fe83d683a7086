"""From raw text to sentences and phonemes."""
