"""What brim knows about Claude Code."""
