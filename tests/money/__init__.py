"""Limits: what people write, what is spent, and what happens."""
