"""Runs the contenders under the same load, in turn, and records what it cost them."""
