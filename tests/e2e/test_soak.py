"""The soak, for a few seconds: so that scripts/soak works on the day when it is needed."""

from soak.run import Soak


def test_every_request_of_a_busy_time_has_its_line_and_its_right_answer(world):
    soak = Soak(world, seconds=12, rate=30)
    try:
        figures = soak.run()
    finally:
        soak.close()
    assert figures["problems"] == []
    assert figures["requests"] == figures["request_lines"] > 0
    assert {"fetch", "refused", "move_bytes", "idle", "reload", "revoke"} <= set(figures["done"])
