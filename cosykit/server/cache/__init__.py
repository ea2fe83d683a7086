"""Finished speech that is kept, to be given again."""
