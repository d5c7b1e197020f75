"""What brim knows about Codex."""
