"""Real coding agents, with brim installed into them, talking to a model API on this machine."""
