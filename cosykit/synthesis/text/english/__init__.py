"""American English: words to the phonemes that the embedded model was trained on."""
