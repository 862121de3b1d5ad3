"""Tally: what the clients of a soak asked for and were told, and what went wrong."""

import collections
import threading
import traceback

SHOWN_ERRORS = 20


class Tally:
    """Counts per (source address, host): requests by their outcome as the client saw it.

    An outcome is "open", the reason of a refusal, or "lost": the connection ended before an answer,
    so that the request may have been read or not.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self.requests = collections.defaultdict(collections.Counter)
        self.done = collections.Counter()  # by activity
        self.errors = collections.Counter()
        self.first_errors = []

    def request(self, source, host, outcome):
        with self._lock:
            self.requests[source, host][outcome] += 1

    def finished(self, activity):
        with self._lock:
            self.done[activity] += 1

    def failed(self, activity, error):
        with self._lock:
            self.errors[activity] += 1
            if len(self.first_errors) < SHOWN_ERRORS:
                place = traceback.extract_tb(error.__traceback__)[-1]
                self.first_errors.append(
                    f"{activity}: {place.name}:{place.lineno}: {error!r:.300}")

    def run(self, activity, action, *arguments):
        try:
            action(*arguments)
            self.finished(activity)
        except Exception as error:  # the soak goes on; the verdict tells of it
            self.failed(activity, error)

    def total(self):
        return sum(sum(outcomes.values()) for outcomes in self.requests.values())
