"""What brim 0.1 did, recorded step by step, and a replay that shows that it still does."""
