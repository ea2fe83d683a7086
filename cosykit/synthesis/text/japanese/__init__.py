"""Japanese text to phonemes.

text ─▶ lattice of dictionary words ─▶ words ─▶ numbers, homographs ─▶ phonemes
        lexicon, lattice               numbers, homographs             kana
"""
