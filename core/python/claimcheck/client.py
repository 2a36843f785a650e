"""The client, with blocking calls."""

from __future__ import annotations

import functools
import os
import time
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Optional, TypeVar, Union

from . import operations
from .checker import Report
from .errors import ConnectionFailed
from .operations import MOST_RETRIES, Claim, Operation, Pause, Response, Step, Times
from .transport import base_of, send

T = TypeVar("T")
Params = Union[Mapping[str, Any], Callable[[Any], Mapping[str, Any]], None]
Target = Union[str, Callable[[Any], str]]


class Claimed(NamedTuple):
    """What the work returned, and the claim about it."""

    result: Any
    claim: Claim


class Settings:
    """What both clients are made with."""

    def __init__(
        self,
        base_url: Optional[str] = None,
        key: Optional[str] = None,
        *,
        agent_id: Optional[str] = None,
        timeout: float = 30.0,
        retries: int = MOST_RETRIES,
    ):
        """
        base_url and key come from CLAIMCHECK_URL and CLAIMCHECK_KEY when they are left out. Receipts are read without a key.
        agent_id is who claims, where a claim names nobody. timeout: seconds of each wait for the network.
        """
        given = base_url or os.environ.get("CLAIMCHECK_URL")
        if not given:
            raise ValueError("base_url is missing: give it, or set CLAIMCHECK_URL")
        self._base = base_of(given)
        key = key or os.environ.get("CLAIMCHECK_KEY")
        self._headers = {} if key is None else {"authorization": f"Bearer {key}"}
        self._agent_id = agent_id
        self._timeout = timeout
        self._retries = retries

    def _agent(self, agent_id: Optional[str]) -> str:
        named = agent_id or self._agent_id
        if not named:
            raise ValueError("agent_id is missing: give it here or to the client")
        return named

    def _send(self, request: operations.Request) -> Response:
        return send(self._base, self._headers, request, self._timeout)

    def _submission(
        self,
        action: str,
        target: str,
        params: Optional[Mapping[str, Any]],
        agent_id: Optional[str],
        claimed_at: Times,
        deadline_at: Times,
        client_claim_id: Optional[str],
    ) -> Operation[Claim]:
        agent = self._agent(agent_id)
        return operations.submit(
            self._retries, action, target, params, agent, claimed_at, deadline_at, client_claim_id
        )


class Client(Settings):
    """Submits claims, waits for their verdicts, and reads and checks receipts. It may be used by several threads."""

    def submit(
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
        """Claims that something was done, now unless claimed_at says when.

        It tries again where the service is away; one call makes one claim. Name it with client_claim_id where a later run of the
        program may submit it again.
        """
        return self._run(
            self._submission(action, target, params, agent_id, claimed_at, deadline_at, client_claim_id)
        )

    def claim(self, claim_id: str) -> Claim:
        return self._run(operations.claim(self._retries, claim_id))

    def wait(self, claim: Union[str, Claim], timeout: Optional[float] = None) -> Claim:
        """Until the claim is decided. Raises WaitTimeout after so many seconds; a claim may take until its deadline."""
        return self._run(operations.wait(self._retries, _id_of(claim), timeout))

    def claims(
        self,
        *,
        agent_id: Optional[str] = None,
        action: Optional[str] = None,
        verdict: Optional[str] = None,
        state: Optional[str] = None,
        page_size: int = 100,
    ) -> Iterator[Claim]:
        """All that fit, newest first. Pages are read as they are needed."""
        filters = {"agent_id": agent_id, "action": action, "verdict": verdict, "state": state, "limit": page_size}
        cursor: Optional[str] = None
        while True:
            page, cursor = self._run(operations.claims_page(self._retries, filters, cursor))
            yield from page
            if cursor is None:
                return

    def receipt(self, receipt_id: str) -> str:
        """The text. Keep it unchanged: the checker reads the text itself."""
        return self._run(operations.receipt(self._retries, receipt_id))

    def evidence(self, receipt_id: str) -> Optional[str]:
        """The checks that the verdict follows from, as text; None for a receipt that has none."""
        return self._run(operations.evidence(self._retries, receipt_id))

    def keys(self) -> str:
        """The issuer's key document, as text."""
        return self._run(operations.text(self._retries, "/.well-known/poaw-keys.json"))

    def verify(self, receipt_id: str, keys: Optional[str] = None) -> Report:
        """Fetches the receipt and checks it here. Give it a key document of your own to trust no other."""
        return self._run(operations.verify(self._retries, receipt_id, keys))

    def whoami(self) -> Mapping[str, Any]:
        """The workspace and the rights of the key."""
        return self._run(operations.whoami(self._retries))

    def connections(self) -> Mapping[str, Any]:
        """What the workspace can have checked."""
        return self._run(operations.connections(self._retries))

    def claiming(
        self, action: str, target: Target, params: Params = None, *, agent_id: Optional[str] = None, wait: bool = False
    ) -> Callable[[Callable[..., Any]], Callable[..., Claimed]]:
        """A decorator: does the work, then claims it. The function then returns a Claimed.

        target and params may be functions of what the work returned. Work that raises makes no claim.
        """

        def decorate(work: Callable[..., Any]) -> Callable[..., Claimed]:
            @functools.wraps(work)
            def work_and_claim(*args: Any, **kwargs: Any) -> Claimed:
                result = work(*args, **kwargs)
                claim = self.submit(action, given(target, result), given(params, result), agent_id=agent_id)
                return Claimed(result, self.wait(claim) if wait else claim)

            return work_and_claim

        return decorate

    def _run(self, operation: Operation[T]) -> T:
        step: Step
        try:
            step = next(operation)
            while True:
                if isinstance(step, Pause):
                    time.sleep(step.seconds)
                    step = operation.send(None)
                    continue
                try:
                    response = self._send(step)
                except ConnectionFailed as error:
                    step = operation.throw(error)
                else:
                    step = operation.send(response)
        except StopIteration as end:
            return end.value


def given(value: Any, result: Any) -> Any:
    return value(result) if callable(value) else value


def _id_of(claim: Union[str, Claim]) -> str:
    return claim if isinstance(claim, str) else claim.claim_id
