# SPDX-License-Identifier: Apache-2.0
"""A network between clients and sledd that can be cut: a proxy that passes bytes on."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from concurrent.futures import Future


class Proxy:
    """Passes on connections to a port of loopback, until it is cut; then it resets them, and refuses new ones."""

    def __init__(self, port: int) -> None:
        self._target, self._whole = port, True
        self._tasks: set[asyncio.Task[None]] = set()
        self._loop = asyncio.new_event_loop()
        started: Future[int] = Future()
        threading.Thread(target=self._run, args=(started,), daemon=True).start()
        self.url = f"https://127.0.0.1:{started.result(60)}"

    def _run(self, started: Future[int]) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(asyncio.start_server(self._accept, "127.0.0.1", 0))
        started.set_result(server.sockets[0].getsockname()[1])
        self._loop.run_forever()

    def cut(self) -> None:
        """Ends every connection, and lets none through."""
        self._whole = False
        self._loop.call_soon_threadsafe(lambda: [task.cancel() for task in self._tasks])

    def heal(self) -> None:
        """Lets connections through again."""
        self._whole = True

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            if self._whole:
                await self._pass_on(reader, writer)
        except (OSError, asyncio.CancelledError):
            pass  # sledd is gone, or this is a cut
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, before = await asyncio.open_connection("127.0.0.1", self._target)
        try:
            there = asyncio.ensure_future(copy(reader, before))
            back = asyncio.ensure_future(copy(behind, writer))
            try:
                await asyncio.wait([there, back], return_when=asyncio.FIRST_COMPLETED)
            finally:
                there.cancel()
                back.cancel()
        finally:
            before.transport.abort()


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Until one side ends. What was read is sent before that."""
    with contextlib.suppress(OSError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
        writer.write_eof() if writer.can_write_eof() else None
