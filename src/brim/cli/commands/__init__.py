"""The commands: each parses its options, calls a room, and shows the result in its own words."""
