"""The compatibility matrix: which clients work through the proxy, and what they say of a refusal."""
