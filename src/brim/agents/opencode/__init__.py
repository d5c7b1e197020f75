"""What brim knows about opencode."""
