"""From raw text to sentences, phonemes and tokens."""
