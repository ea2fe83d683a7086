"""From a mel to samples."""
