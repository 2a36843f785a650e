"""Does the work, then claims it: as a decorator, or as a ``with`` block."""

from __future__ import annotations

import asyncio
import functools
import inspect
import time
from datetime import datetime, timezone
from typing import Any, Callable, Dict, Mapping, NamedTuple, Optional, Union

from . import operations
from .aio import AsyncClient
from .client import Client
from .errors import ClaimcheckError, NotClaimed
from .operations import Claim, Times

Params = Union[Mapping[str, Any], Callable[[Any], Mapping[str, Any]], None]
Text = Union[str, Callable[[Any], str]]


class Claimed(NamedTuple):
    """What the work returned, and the claim about it."""

    result: Any
    claim: Claim


class claims:
    """Claims that work was done when it ended. Work that raises claims nothing, and its error goes to the caller.

    As a decorator the function returns a Claimed: it is awaited if the work or the client is. ``target``, ``params``
    and ``client_claim_id`` may be functions of what the work returned. As a context manager, with ``async`` for an
    AsyncClient, set ``params`` inside of the block and read ``claim`` behind it.

    When the work is done and the service does not take the claim, NotClaimed is raised, with the result and the claim.
    """

    def __init__(
        self,
        client: Union[Client, AsyncClient],
        *,
        action: str,
        target: Text,
        params: Params = None,
        agent_id: Optional[str] = None,
        client_claim_id: Union[Text, None] = None,
        deadline_at: Times = None,
        wait: bool = False,
    ):
        """``wait``: until the claim is decided."""
        self.target = target
        self.params = params
        self.client_claim_id = client_claim_id
        #: Behind a block: the claim about it.
        self.claim: Optional[Claim] = None
        self._client = client
        self._given: Dict[str, Any] = {"action": action, "agent_id": agent_id, "deadline_at": deadline_at}
        self._wait = wait

    def __call__(self, work: Callable[..., Any]) -> Callable[..., Any]:
        client = self._client
        if inspect.isgeneratorfunction(work) or inspect.isasyncgenfunction(work):
            raise TypeError("a generator works after it was called: claim its work with a with block")

        @functools.wraps(work)
        def work_and_claim(*args: Any, **kwargs: Any) -> Any:
            result = work(*args, **kwargs)
            # Work that is behind another decorator, or an object, does not say before that it is awaited.
            return claim_when_done(result) if inspect.isawaitable(result) else Claimed(result, self._claim(result))

        @functools.wraps(work)
        async def work_and_claim_later(*args: Any, **kwargs: Any) -> Claimed:
            return await claim_when_done(work(*args, **kwargs))

        async def claim_when_done(result: Any) -> Claimed:
            if inspect.isawaitable(result):
                result = await result
            return Claimed(result, await self._claim_later(result))

        is_awaited = isinstance(client, AsyncClient) or inspect.iscoroutinefunction(work)
        return work_and_claim_later if is_awaited else work_and_claim

    def __enter__(self) -> claims:
        if isinstance(self._client, AsyncClient):
            raise TypeError("with an AsyncClient, write: async with")
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.claim = self._claim(None)

    async def __aenter__(self) -> claims:
        return self

    async def __aexit__(self, kind: Any, *_: Any) -> None:
        if kind is None:
            self.claim = await self._claim_later(None)

    def _claim(self, result: Any) -> Claim:
        client = self._client
        assert isinstance(client, Client)
        done_at = time.monotonic()
        body = self._body(result)
        try:
            claim = client._run(operations.submit(client._retry_for, body, done_at))
        except ClaimcheckError as error:
            raise NotClaimed(result, body, error) from error
        return client.wait(claim) if self._wait else claim

    async def _claim_later(self, result: Any) -> Claim:
        client = self._client
        if isinstance(client, Client):
            return await asyncio.to_thread(self._claim, result)
        done_at = time.monotonic()
        body = self._body(result)
        try:
            claim = await client._run(operations.submit(client._retry_for, body, done_at))
        except ClaimcheckError as error:
            raise NotClaimed(result, body, error) from error
        return await client.wait(claim) if self._wait else claim

    def _body(self, result: Any) -> Mapping[str, Any]:
        def given(value: Any) -> Any:
            return value(result) if callable(value) else value

        ended = datetime.now(timezone.utc)
        return self._client.prepare(
            target=given(self.target),
            params=given(self.params),
            client_claim_id=given(self.client_claim_id),
            claimed_at=ended,
            **self._given,
        )
