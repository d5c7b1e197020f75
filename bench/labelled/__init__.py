"""Sessions whose dead ends are known: what the detector is measured by."""
