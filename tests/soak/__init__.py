"""Soak: an hour, or half a minute, in the life of a proxy with 200 agents."""
