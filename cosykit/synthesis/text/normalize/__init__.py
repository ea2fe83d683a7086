"""Numbers, dates, units and symbols written out as they are spoken."""
