"""Waiting for a condition with a deadline: the only way in which a test lets time pass."""

import time

# Well below the daemon's own default limits, yet generous to a machine that is busy.
SOON = 5.0


def until(condition, seconds=10.0, what="the condition"):
    """Returns the first truthy value of condition(); fails the test after `seconds`."""
    deadline = time.monotonic() + seconds
    pause = 0.001
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s in vain for {what}")
        time.sleep(pause)
        pause = min(pause * 2, 0.02)


def steady(sample, quiet=0.5, seconds=20.0):
    """Waits until sample() has kept its value for `quiet` seconds, and returns that value."""
    deadline = time.monotonic() + seconds
    value, since = sample(), time.monotonic()
    while time.monotonic() - since < quiet:
        if time.monotonic() > deadline:
            raise AssertionError(f"still changing after {seconds} s: {value}")
        time.sleep(0.01)
        now = sample()
        if now != value:
            value, since = now, time.monotonic()
    return value
