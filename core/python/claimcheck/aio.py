"""The same client for an event loop. Requests run in threads of the loop, because the standard library has no other HTTP client."""

from __future__ import annotations

import asyncio
import contextvars
import time
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, AsyncIterator, Mapping, Optional, Type, TypeVar, Union

from . import operations
from .checker import Report
from .client import Settings
from .errors import ConnectionFailed
from .files import Document, text_of
from .operations import Claim, Operation, Pause, Request, Response, Step, Times, Watch

T = TypeVar("T")


class AsyncClient(Settings):
    """As Client: each method of the same name does the same, and is awaited, or iterated with ``async for``.

    ``async with`` closes it: its requests end with their connections, and its threads with them.
    """

    _threads: Optional[ThreadPoolExecutor] = None
    _is_closed = False

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Returns when the requests that are open have ended. No other request is made after it: RuntimeError."""
        self._is_closed = True
        threads, self._threads = self._threads, None
        if threads is not None:
            await asyncio.to_thread(threads.shutdown)

    async def submit(
        self,
        action: str,
        target: str,
        params: Optional[Mapping[str, Any]] = None,
        *,
        agent_id: Optional[str] = None,
        claimed_at: Times = None,
        deadline_at: Times = None,
        client_claim_id: Optional[str] = None,
    ) -> Claim:
        # What was done at a time that is named was not measured.
        done_at = time.monotonic() if claimed_at is None else None
        body = self.prepare(
            action,
            target,
            params,
            agent_id=agent_id,
            claimed_at=claimed_at,
            deadline_at=deadline_at,
            client_claim_id=client_claim_id,
        )
        return await self._run(operations.submit(self._retry_for, body, done_at))

    async def claim(self, claim_id: str) -> Claim:
        return await self._run(operations.claim(self._retry_for, claim_id))

    async def wait(self, claim: Union[str, Claim], timeout: Optional[float] = None) -> Claim:
        return await self._run(operations.wait(self._retry_for, claim, timeout))

    async def watch(self, *claims: Union[str, Claim]) -> AsyncIterator[Claim]:
        watch = Watch(claims)
        while not watch.is_over:
            for claim in await self._run(watch.changes(self._retry_for)):
                yield claim

    async def list(
        self,
        *,
        agent_id: Optional[str] = None,
        action: Optional[str] = None,
        verdict: Optional[str] = None,
        state: Optional[str] = None,
        page_size: int = 100,
    ) -> AsyncIterator[Claim]:
        filters = {"agent_id": agent_id, "action": action, "verdict": verdict, "state": state, "limit": page_size}
        cursor: Optional[str] = None
        empty_pages = 0
        while True:
            page, cursor = await self._run(operations.claims_page(self._retry_for, filters, cursor))
            empty_pages = operations.count_empty(empty_pages, page)
            for claim in page:
                yield claim
            if cursor is None:
                return

    async def receipt(self, receipt_id: str) -> str:
        return await self._run(operations.receipt(self._retry_for, receipt_id))

    async def evidence(self, receipt_id: str) -> Optional[str]:
        return await self._run(operations.evidence(self._retry_for, receipt_id))

    async def keys(self) -> str:
        return await self._run(operations.keys(self._retry_for))

    async def verify(self, receipt_id: str, keys: Optional[str] = None) -> Report:
        return await self._run(operations.verify(self._retry_for, receipt_id, keys))

    async def compare_bundle(self, bundle: Document, keys: Optional[str] = None) -> str:
        return await self._run(operations.compare_bundle(self._retry_for, text_of(bundle), keys))

    async def whoami(self) -> Mapping[str, Any]:
        return await self._run(operations.whoami(self._retry_for))

    async def connections(self) -> Mapping[str, Any]:
        return await self._run(operations.connections(self._retry_for))

    async def profiles(self) -> Mapping[str, Any]:
        return await self._run(operations.profiles(self._retry_for))

    async def _run(self, operation: Operation[T]) -> T:
        step: Step
        try:
            step = next(operation)
            while True:
                if isinstance(step, Pause):
                    await asyncio.sleep(step.seconds)
                    step = operation.send(None)
                    continue
                try:
                    response = await self._in_thread(step)
                except ConnectionFailed as error:
                    step = operation.throw(error)
                else:
                    step = operation.send(response)
        except StopIteration as end:
            return end.value

    async def _in_thread(self, request: Request) -> Response:
        if self._is_closed:
            raise RuntimeError("the client is closed")
        if self._threads is None:
            self._threads = ThreadPoolExecutor(thread_name_prefix="claimcheck")
        # As asyncio.to_thread does, for what reads the key.
        context = contextvars.copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._threads, context.run, self._send, request)
