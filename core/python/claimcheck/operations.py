"""What the service is asked, and what its answers mean, apart from how they travel.

Each operation is a generator: it yields a Request and is sent its Response, or yields a Pause. ``client.py`` drives them with blocking
calls, ``aio.py`` in an event loop.
"""

from __future__ import annotations

import email.utils
import json
import random
import time
import uuid
from dataclasses import dataclass, fields
from datetime import datetime, timezone
from typing import Any, Dict, Generator, List, Mapping, Optional, Tuple, TypeVar, Union
from urllib.parse import quote, urlencode

from .checker import Report, check_receipt, parse_keys
from .errors import ApiError, ClaimcheckError, ConnectionFailed, WaitTimeout, error_of

T = TypeVar("T")
Times = Union[str, datetime, None]


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    body: Optional[str] = None


@dataclass(frozen=True)
class Response:
    status: int
    #: By names in lower case.
    headers: Mapping[str, str]
    text: str


@dataclass(frozen=True)
class Pause:
    seconds: float


Step = Union[Request, Pause]
#: Is sent a Response for a Request, None for a Pause, and is thrown ConnectionFailed where a request fails.
Operation = Generator[Step, Optional[Response], T]


@dataclass(frozen=True)
class Claim:
    """A claim as the service has it."""

    claim_id: str
    client_claim_id: str
    agent_id: str
    action: str
    target: str
    claimed_at: str
    deadline_at: str
    submitted_at: str
    #: ``queued`` or ``decided``.
    state: str
    attempts: int
    next_check_at: Optional[str]
    #: None while the claim is queued.
    receipt_id: Optional[str]
    #: ``verified``, ``late``, ``mismatch``, ``failed``, ``unverifiable``; None while the claim is queued.
    verdict: Optional[str]
    reason_code: Optional[str]
    #: All of the answer.
    raw: Mapping[str, Any]

    @property
    def is_decided(self) -> bool:
        return self.state == "decided"

    @property
    def is_verified(self) -> bool:
        return self.verdict == "verified"


_CLAIM_FIELDS = [field.name for field in fields(Claim) if field.name != "raw"]

MOST_RETRIES = 4
_FIRST_PAUSE = 0.25
_MOST_PAUSE = 2.0
#: Longer than this the caller decides whether to wait.
_MOST_RETRY_AFTER = 60.0
_TEMPORARY = (429, 502, 503, 504)


def submit(
    retries: int,
    action: str,
    target: str,
    params: Optional[Mapping[str, Any]],
    agent_id: str,
    claimed_at: Times,
    deadline_at: Times,
    client_claim_id: Optional[str],
) -> Operation[Claim]:
    body: Dict[str, Any] = {
        # The same for all tries, so that a lost answer makes no second claim.
        "client_claim_id": client_claim_id or str(uuid.uuid4()),
        "agent_id": agent_id,
        "action": action,
        "target": target,
        "claimed_at": _timestamp(claimed_at) or _timestamp(datetime.now(timezone.utc)),
    }
    if params is not None:
        body["params"] = dict(params)
    if deadline_at is not None:
        body["deadline_at"] = _timestamp(deadline_at)
    return to_claim((yield from _json(retries, "POST", "/v1/claims", json.dumps(body, allow_nan=False))))


def claim(retries: int, claim_id: str) -> Operation[Claim]:
    return to_claim((yield from _json(retries, "GET", f"/v1/claims/{_segment(claim_id)}")))


def wait(retries: int, claim_id: str, timeout: Optional[float], now=time.monotonic) -> Operation[Claim]:
    """Until the claim is decided. Each answer that says so, also while the service is away, prolongs the pause before the next."""
    started = now()
    pause = _FIRST_PAUSE
    while True:
        found = yield from claim(retries, claim_id)
        if found.is_decided:
            return found
        left = None if timeout is None else timeout - (now() - started)
        if left is not None and left <= 0:
            raise WaitTimeout(claim_id, timeout or 0)
        yield Pause(pause if left is None else min(pause, left))
        pause = min(2 * pause, _MOST_PAUSE)


def claims_page(
    retries: int, filters: Mapping[str, Any], cursor: Optional[str]
) -> Operation[Tuple[List[Claim], Optional[str]]]:
    query = {name: value for name, value in {**filters, "cursor": cursor}.items() if value is not None}
    page = yield from _json(retries, "GET", f"/v1/claims?{urlencode(query)}")
    return [to_claim(one) for one in page["claims"]], page["next_cursor"]


def whoami(retries: int) -> Operation[Mapping[str, Any]]:
    return (yield from _json(retries, "GET", "/v1/whoami"))


def connections(retries: int) -> Operation[Mapping[str, Any]]:
    return (yield from _json(retries, "GET", "/v1/connections"))


def text(retries: int, path: str) -> Operation[str]:
    response = yield from _request(retries, Request("GET", path))
    return response.text


def receipt(retries: int, receipt_id: str) -> Operation[str]:
    return text(retries, f"/v1/receipts/{_segment(receipt_id)}")


def evidence(retries: int, receipt_id: str) -> Operation[Optional[str]]:
    try:
        return (yield from text(retries, f"/v1/receipts/{_segment(receipt_id)}/evidence"))
    except ApiError as error:
        if error.status == 404:
            return None
        raise


def verify(retries: int, receipt_id: str, keys: Optional[str]) -> Operation[Report]:
    document = yield from receipt(retries, receipt_id)
    key_document = keys if keys is not None else (yield from text(retries, "/.well-known/poaw-keys.json"))
    report = check_receipt(document, parse_keys(key_document))
    if report.valid and report.document and report.document["body"]["receipt_id"] != receipt_id:
        raise ClaimcheckError(f"the service answered with another receipt than {receipt_id}")
    return report


def to_claim(raw: Mapping[str, Any]) -> Claim:
    return Claim(**{name: raw.get(name) for name in _CLAIM_FIELDS}, raw=raw)


def _json(retries: int, method: str, path: str, body: Optional[str] = None) -> Operation[Any]:
    response = yield from _request(retries, Request(method, path, body))
    try:
        return json.loads(response.text)
    except ValueError as error:
        raise ConnectionFailed(f"{method} {path}: the answer is not JSON: is this the address of the service?") from error


def _request(retries: int, request: Request) -> Operation[Response]:
    """Every request here may be sent again: a claim carries the id by which the service knows it."""
    for tried in range(retries + 1):
        asked = 0.0
        try:
            response = yield request
            assert response is not None
            if 200 <= response.status < 300:
                return response
            failure: ClaimcheckError = error_of(response.status, response.text, _retry_after(response.headers))
            if response.status not in _TEMPORARY:
                raise failure
            asked = _retry_after(response.headers) or 0.0
        except ConnectionFailed as error:
            failure = error
        if tried == retries or asked > _MOST_RETRY_AFTER:
            raise failure
        # Clients that failed together do not come back together.
        yield Pause(max(asked, min(_FIRST_PAUSE * 2**tried, _MOST_PAUSE) * random.uniform(0.5, 1.0)))
    raise AssertionError("unreachable")


def _retry_after(headers: Mapping[str, str]) -> Optional[float]:
    value = headers.get("retry-after", "")
    if value.isascii() and value.isdigit():
        return float(value)
    try:
        moment = email.utils.parsedate_to_datetime(value)
    except (TypeError, ValueError, IndexError):
        return None
    return max(0.0, moment.timestamp() - time.time())


def _timestamp(moment: Times) -> Optional[str]:
    if moment is None or isinstance(moment, str):
        return moment
    if moment.tzinfo is None:
        raise ValueError("a time needs its zone, such as datetime.now(timezone.utc)")
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def _segment(value: str) -> str:
    return quote(value, safe="")
