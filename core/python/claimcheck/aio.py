"""The same client for an event loop. Requests run in threads of the loop, because the standard library has no other HTTP client."""

from __future__ import annotations

import asyncio
import functools
import inspect
from typing import Any, AsyncIterator, Callable, Mapping, Optional, TypeVar, Union

from . import operations
from .checker import Report
from .client import Claimed, Params, Settings, Target, _id_of, given
from .errors import ConnectionFailed
from .operations import Claim, Operation, Pause, Step, Times

T = TypeVar("T")


class AsyncClient(Settings):
    """As Client: each method of the same name does the same, and is awaited."""

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
        return await self._run(
            self._submission(action, target, params, agent_id, claimed_at, deadline_at, client_claim_id)
        )

    async def claim(self, claim_id: str) -> Claim:
        return await self._run(operations.claim(self._retries, claim_id))

    async def wait(self, claim: Union[str, Claim], timeout: Optional[float] = None) -> Claim:
        return await self._run(operations.wait(self._retries, _id_of(claim), timeout))

    async def claims(
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
        while True:
            page, cursor = await self._run(operations.claims_page(self._retries, filters, cursor))
            for claim in page:
                yield claim
            if cursor is None:
                return

    async def receipt(self, receipt_id: str) -> str:
        return await self._run(operations.receipt(self._retries, receipt_id))

    async def evidence(self, receipt_id: str) -> Optional[str]:
        return await self._run(operations.evidence(self._retries, receipt_id))

    async def keys(self) -> str:
        return await self._run(operations.text(self._retries, "/.well-known/poaw-keys.json"))

    async def verify(self, receipt_id: str, keys: Optional[str] = None) -> Report:
        return await self._run(operations.verify(self._retries, receipt_id, keys))

    async def whoami(self) -> Mapping[str, Any]:
        return await self._run(operations.whoami(self._retries))

    async def connections(self) -> Mapping[str, Any]:
        return await self._run(operations.connections(self._retries))

    def claiming(
        self, action: str, target: Target, params: Params = None, *, agent_id: Optional[str] = None, wait: bool = False
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Of a function that is awaited, or of a plain one."""

        def decorate(work: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(work)
            async def work_and_claim(*args: Any, **kwargs: Any) -> Claimed:
                result = work(*args, **kwargs)
                if inspect.isawaitable(result):
                    result = await result
                claim = await self.submit(action, given(target, result), given(params, result), agent_id=agent_id)
                return Claimed(result, await self.wait(claim) if wait else claim)

            return work_and_claim

        return decorate

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
                    response = await asyncio.to_thread(self._send, step)
                except ConnectionFailed as error:
                    step = operation.throw(error)
                else:
                    step = operation.send(response)
        except StopIteration as end:
            return end.value
