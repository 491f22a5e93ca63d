# SPDX-License-Identifier: Apache-2.0
"""Threads that carry out actions. The actions of one node run one after the other, whichever threads each is for."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable

Job = Callable[[], None]


class ThreadPool:
    """A number of threads, which end with the process and not before: what they do must not hold up its end."""

    def __init__(self, threads: int) -> None:
        self._ready: queue.SimpleQueue[Job] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._left = threads

    def submit(self, job: Job) -> None:
        """Runs the job as soon as a thread is free. The job must not raise."""
        with self._lock:
            if self._left:
                self._left -= 1
                threading.Thread(target=self._serve, name="supervise", daemon=True).start()
        self._ready.put(job)

    def _serve(self) -> None:
        while True:
            self._ready.get()()


class Queues:
    """A queue for each node. A job waits for the earlier ones of its node, and then for a thread of its pool."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[tuple[ThreadPool, Job]]] = {}
        self._lock = threading.Lock()

    def submit(self, pool: ThreadPool, key: str, job: Job) -> None:
        """Runs the job in the pool, after all earlier ones of this key."""
        with self._lock:
            jobs = self._waiting.setdefault(key, deque())
            jobs.append((pool, job))
            if len(jobs) > 1:
                return
        pool.submit(lambda: self._run(key, job))

    def _run(self, key: str, job: Job) -> None:
        job()
        with self._lock:
            jobs = self._waiting[key]
            jobs.popleft()
            if not jobs:
                del self._waiting[key]
                return
            pool, following = jobs[0]
        pool.submit(lambda: self._run(key, following))
