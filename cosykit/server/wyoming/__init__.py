"""Wyoming, the protocol by which Home Assistant finds and uses voices."""
