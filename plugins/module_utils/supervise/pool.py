# SPDX-License-Identifier: Apache-2.0
"""Threads that carry out acts. The acts of one node run one after the other."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable

Job = Callable[[], None]


class Pool:
    """A number of threads, which end with the process and not before: what they do must not hold up its end."""

    def __init__(self, threads: int) -> None:
        self._ready: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._waiting: dict[str, deque[Job]] = {}
        self._lock = threading.Lock()
        self._left = threads

    def submit(self, key: str, job: Job) -> None:
        """Runs the job after all earlier ones of this key. The job must not raise."""
        with self._lock:
            jobs = self._waiting.setdefault(key, deque())
            jobs.append(job)
            if len(jobs) > 1:
                return
            if self._left:
                self._left -= 1
                threading.Thread(target=self._serve, name="supervise", daemon=True).start()
        self._ready.put(key)

    def _serve(self) -> None:
        while True:
            key = self._ready.get()
            with self._lock:
                job = self._waiting[key][0]
            job()
            with self._lock:
                self._waiting[key].popleft()
                if self._waiting[key]:
                    self._ready.put(key)
                else:
                    del self._waiting[key]
