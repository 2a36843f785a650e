"""The client, with blocking calls."""

from __future__ import annotations

import os
import threading
import time
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, TypeVar, Union

from . import operations
from .checker import Report
from .errors import ConnectionFailed
from .events import Event, listen
from .files import Document, text_of
from .operations import RETRY_FOR, Claim, Operation, Pause, Response, Step, Times, Watch
from .transport import TREE_HEAD, authorization, base_of, lines, send
from .tree_head import newer

T = TypeVar("T")


class Settings:
    """What both clients are made with."""

    def __init__(
        self,
        base_url: Optional[str] = None,
        key: Union[str, Callable[[], str], None] = None,
        *,
        agent_id: Optional[str] = None,
        timeout: float = 30.0,
        retry_for: float = RETRY_FOR,
        allow_http: bool = False,
    ):
        """
        base_url and key come from CLAIMCHECK_URL and CLAIMCHECK_KEY when they are left out. A key that is a function is
        asked before each request, for tokens that are renewed. Receipts are read without a key.
        agent_id is who claims, where a claim names no agent. timeout: seconds of each wait for the network. retry_for:
        seconds for which a call goes on trying when the service is away or asks to wait. allow_http sends the key over
        http to other machines, too.
        """
        given = base_url or os.environ.get("CLAIMCHECK_URL")
        if not given:
            raise ValueError("base_url is missing: give it, or set CLAIMCHECK_URL")
        self._base = base_of(given, allow_http)
        self._key = key if key is not None else os.environ.get("CLAIMCHECK_KEY")
        if isinstance(self._key, str):
            authorization(self._key)
        self._agent_id = agent_id
        self._timeout = timeout
        self._retry_for = retry_for
        #: It goes along with each request, so that the log cannot lose entries unseen.
        self._tree_head: Optional[str] = None
        self._keeping = threading.Lock()

    def prepare(
        self,
        action: str,
        target: str,
        params: Optional[Mapping[str, Any]] = None,
        *,
        agent_id: Optional[str] = None,
        claimed_at: Times = None,
        deadline_at: Times = None,
        client_claim_id: Optional[str] = None,
    ) -> Dict[str, Any]:
        """The claim as submit sends it, with an id, a time and an agent. Submitting it twice makes one claim."""
        named = agent_id or self._agent_id
        if not named:
            raise ValueError("agent_id is missing: give it here or to the client")
        return operations.prepare(action, target, params, named, claimed_at, deadline_at, client_claim_id)

    def _send(self, request: operations.Request) -> Response:
        key = self._key() if callable(self._key) and request.needs_key else self._key
        response = send(self._base, key if isinstance(key, str) else None, request, self._timeout, self._tree_head)
        with self._keeping:
            self._tree_head = newer(self._tree_head, response.headers.get(TREE_HEAD))
        return response

    def _lines(self, path: str, last: Optional[str]) -> Iterator[str]:
        key = self._key() if callable(self._key) else self._key
        return lines(self._base, key, path, last)


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
        return self._run(operations.submit(self._retry_for, body, done_at))

    def claim(self, claim_id: str) -> Claim:
        return self._run(operations.claim(self._retry_for, claim_id))

    def wait(self, claim: Union[str, Claim], timeout: Optional[float] = None) -> Claim:
        """Until the claim is decided. Raises WaitTimeout after so many seconds; a claim may take until its deadline."""
        return self._run(operations.wait(self._retry_for, claim, timeout))

    def watch(self, *claims: Union[str, Claim]) -> Iterator[Claim]:
        """Each claim as it is now, and again whenever it changed, until all are decided."""
        watch = Watch(claims)
        while not watch.is_over:
            yield from self._run(watch.changes(self._retry_for))

    def list(
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
        empty_pages = 0
        while True:
            page, cursor = self._run(operations.claims_page(self._retry_for, filters, cursor))
            empty_pages = operations.count_empty(empty_pages, page)
            yield from page
            if cursor is None:
                return

    def events(
        self,
        *,
        after: Optional[str] = None,
        type: Optional[str] = None,
        agent_id: Optional[str] = None,
        action: Optional[str] = None,
        verdict: Optional[str] = None,
    ) -> Iterator[Event]:
        """What happens in the workspace from now on, or after an id, in its order and without an end.

        It goes on where a connection broke off. Read the claims again after an event of the type ``gap``.
        """
        filters = {"type": type, "agent_id": agent_id, "action": action, "verdict": verdict}
        return listen(self._lines, after, filters, self._retry_for)

    def receipt(self, receipt_id: str) -> str:
        """The text. Keep it unchanged: the checker reads the text itself."""
        return self._run(operations.receipt(self._retry_for, receipt_id))

    def evidence(self, receipt_id: str) -> Optional[str]:
        """The checks that the verdict follows from, as text; None for a receipt that has none."""
        return self._run(operations.evidence(self._retry_for, receipt_id))

    def keys(self) -> str:
        """The issuer's key document, as text."""
        return self._run(operations.keys(self._retry_for))

    def verify(self, receipt_id: str, keys: Optional[str] = None) -> Report:
        """Fetches the receipt, its keys, its evidence and the newest signed head of the log, and checks them here.

        Give it a key document of your own to trust no other.
        """
        return self._run(operations.verify(self._retry_for, receipt_id, keys))

    def compare_bundle(self, bundle: Document, keys: Optional[str] = None) -> str:
        """Whether the log still has the signed head of a bundle that you kept: ``continues``, ``lost``, ``other_log`` or ``unknown``."""
        return self._run(operations.compare_bundle(self._retry_for, text_of(bundle), keys))

    def whoami(self) -> Mapping[str, Any]:
        """The workspace and the rights of the key."""
        return self._run(operations.whoami(self._retry_for))

    def connections(self) -> Mapping[str, Any]:
        """What the workspace can have checked."""
        return self._run(operations.connections(self._retry_for))

    def profiles(self) -> Mapping[str, Any]:
        """The rules by which claims are judged."""
        return self._run(operations.profiles(self._retry_for))

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
