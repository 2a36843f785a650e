"""What the service is asked, and what its answers mean, apart from how they travel.

Each operation is a generator: it yields a Request and is sent its Response, or yields a Pause. ``client.py`` drives them with blocking
calls, ``aio.py`` in an event loop.
"""

from __future__ import annotations

import email.utils
import itertools
import json
import math
import random
import time
import uuid
from dataclasses import dataclass, fields, replace
from datetime import datetime, timezone
from typing import Any, Callable, Dict, Generator, Iterable, List, Mapping, Optional, Sequence, Tuple, TypeVar, Union
from urllib.parse import quote, urlencode

from .bundle import read_bundle
from .checker import PublishedKey, Report, check_receipt, names_anchors, parse_keys
from .errors import ApiError, ClaimcheckError, ConnectionFailed, NotFound, UnexpectedAnswer, WaitTimeout, error_of
from .evidence import check_evidence
from .log import bind_to_head, compare_heads, head_in, heads_path
from .times import parse_instant

T = TypeVar("T")
Times = Union[str, datetime, None]


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    body: Optional[str] = None
    #: Documents for everybody are read without the key.
    needs_key: bool = True


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
_TEXTS_OR_NONE = ("next_check_at", "receipt_id", "verdict", "reason_code")
_TEXTS = [name for name in _CLAIM_FIELDS if name not in (*_TEXTS_OR_NONE, "attempts")]

#: How long a call goes on trying. Seconds.
RETRY_FOR = 60.0
_FIRST_PAUSE = 0.25
_MOST_PAUSE = 2.0
_MOST_BACK_OFF = 8.0
#: Of many claims: the service limits what a key may ask in a minute.
_PAUSE_PER_CLAIM = 0.15
#: So long after its deadline a claim is decided, unless the service cannot: it may have been away meanwhile.
_OVERDUE = 3600.0
_MOST_EMPTY_PAGES = 1000
TEMPORARY = (408, 425, 429, 502, 503, 504)


def prepare(
    action: str,
    target: str,
    params: Optional[Mapping[str, Any]],
    agent_id: str,
    claimed_at: Times,
    deadline_at: Times,
    client_claim_id: Optional[str],
) -> Dict[str, Any]:
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
    return body


def submit(retry_for: float, body: Mapping[str, Any], done_at: Optional[float] = None) -> Operation[Claim]:
    """``done_at``: when it was done, by the monotonic clock. How long ago that is, is measured anew at each try."""

    def as_sent() -> str:
        if done_at is None:
            return json.dumps(body, allow_nan=False)
        # While a machine sleeps, only the clock behind `claimed_at` may go on.
        by_date = 1000 * time.time() - (parse_instant(body["claimed_at"]) or math.inf)
        ago_ms = max(0, round(max(1000 * (time.monotonic() - done_at), by_date)))
        return json.dumps({**body, "claimed_ago_ms": ago_ms}, allow_nan=False)

    answer = yield from _json(retry_for, "POST", "/v1/claims", as_sent)
    return to_claim("/v1/claims", answer)


def claim(retry_for: float, claim_id: str) -> Operation[Claim]:
    path = f"/v1/claims/{_segment(claim_id)}"
    found = to_claim(path, (yield from _json(retry_for, "GET", path)))
    if found.claim_id != claim_id:
        raise UnexpectedAnswer(f"{path}: the answer is another claim: is this the address of the service?")
    return found


def wait(
    retry_for: float, waited: Union[str, Claim], timeout: Optional[float], now=time.monotonic
) -> Operation[Claim]:
    """Until the claim is decided. Each answer that says so, also while the service is away, prolongs the pause before the next."""
    if isinstance(waited, Claim) and waited.is_decided:
        return waited
    started = now()
    pause = _FIRST_PAUSE
    while True:
        found = yield from claim(retry_for, _id_of(waited))
        if found.is_decided:
            return found
        if _is_overdue(found):
            raise WaitTimeout(found)
        left = None if timeout is None else timeout - (now() - started)
        if left is not None and left <= 0:
            raise WaitTimeout(found, timeout or 0)
        yield Pause(pause if left is None else min(pause, left))
        pause = min(2 * pause, _MOST_PAUSE)


class Watch:
    """Claims that are followed until each is decided."""

    def __init__(self, claims: Iterable[Union[str, Claim]]):
        self._seen: Dict[str, Optional[Claim]] = dict.fromkeys(map(_id_of, claims))
        self._pause = 0.0
        self._overdue: Optional[Claim] = None

    @property
    def is_over(self) -> bool:
        return not self._seen and self._overdue is None

    def changes(self, retry_for: float) -> Operation[List[Claim]]:
        """Those that are not as they were at the last look: at the first look, all of them.

        Raises WaitTimeout when the others are decided, and one is queued long after its deadline.
        """
        if not self._seen and self._overdue is not None:
            raise WaitTimeout(self._overdue)
        if self._pause:
            yield Pause(max(self._pause, len(self._seen) * _PAUSE_PER_CLAIM))
        changed = []
        for claim_id, before in list(self._seen.items()):
            found = yield from claim(retry_for, claim_id)
            is_overdue = not found.is_decided and _is_overdue(found)
            if is_overdue:
                self._overdue = self._overdue or found
            if found.is_decided or is_overdue:
                del self._seen[claim_id]
            else:
                self._seen[claim_id] = found
            if found != before:
                changed.append(found)
        self._pause = _FIRST_PAUSE if changed else min(2 * self._pause, _MOST_PAUSE)
        return changed


def _is_overdue(queued: Claim) -> bool:
    deadline = parse_instant(queued.deadline_at)
    return deadline is None or time.time() - deadline / 1000 > _OVERDUE


def claims_page(
    retry_for: float, filters: Mapping[str, Any], cursor: Optional[str]
) -> Operation[Tuple[List[Claim], Optional[str]]]:
    query = {name: value for name, value in {**filters, "cursor": cursor}.items() if value is not None}
    page = yield from _json(retry_for, "GET", f"/v1/claims?{urlencode(query)}")
    claims, after = (page.get("claims"), page.get("next_cursor")) if isinstance(page, dict) else (None, None)
    leads_on = isinstance(after, str) and after != cursor
    if not isinstance(claims, list) or not (after is None or leads_on):
        raise UnexpectedAnswer("/v1/claims: the answer is no list of claims: is this the address of the service?")
    return [to_claim("/v1/claims", one) for one in claims], after


def count_empty(before: int, page: Sequence[Claim]) -> int:
    """Pages in a row without a claim. The service looks through 10,000 claims for each."""
    if page:
        return 0
    if before == _MOST_EMPTY_PAGES:
        raise UnexpectedAnswer("/v1/claims: the list of claims leads on without end")
    return before + 1


def whoami(retry_for: float) -> Operation[Mapping[str, Any]]:
    return (yield from _json(retry_for, "GET", "/v1/whoami"))


def connections(retry_for: float) -> Operation[Mapping[str, Any]]:
    return (yield from _json(retry_for, "GET", "/v1/connections"))


def profiles(retry_for: float) -> Operation[Mapping[str, Any]]:
    return _parse("/v1/profiles", (yield from text(retry_for, "/v1/profiles")))


def text(retry_for: float, path: str) -> Operation[str]:
    response = yield from _request(retry_for, Request("GET", path, needs_key=False))
    return response.text


def receipt(retry_for: float, receipt_id: str) -> Operation[str]:
    return text(retry_for, f"/v1/receipts/{_segment(receipt_id)}")


def keys(retry_for: float) -> Operation[str]:
    return text(retry_for, "/.well-known/poaw-keys.json")


def evidence(retry_for: float, receipt_id: str) -> Operation[Optional[str]]:
    try:
        return (yield from text(retry_for, f"/v1/receipts/{_segment(receipt_id)}/evidence"))
    except NotFound:
        return None


def verify(retry_for: float, receipt_id: str, keys: Optional[str]) -> Operation[Report]:
    document = yield from receipt(retry_for, receipt_id)
    key_document = keys if keys is not None else (yield from text(retry_for, "/.well-known/poaw-keys.json"))
    trusted = parse_keys(key_document)
    report = replace(check_receipt(document, trusted), vouched_by="issuer" if keys is None else "keys")
    if not report.valid or report.document is None:
        return report
    body, proof = report.document["body"], report.document.get("proof")
    if body.get("receipt_id") != receipt_id:
        raise UnexpectedAnswer(f"the service answered with another receipt than {receipt_id}")
    file = yield from _if_there(evidence(retry_for, receipt_id))
    head = yield from _if_there(text(retry_for, "/v1/log/head"))
    tree_head = None if proof is None or head is None else (yield from _bind(retry_for, proof, head, trusted))
    rules = None if file is None else (yield from _if_there(text(retry_for, "/v1/profiles")))
    return replace(
        report, tree_head=tree_head, evidence=check_evidence(body, file, rules), issuer_anchors=names_anchors(key_document)
    )


def compare_bundle(retry_for: float, bundle: str, keys: Optional[str]) -> Operation[str]:
    known = read_bundle(bundle).get("tree_head")
    if known is None:
        return "unknown"
    key_document = keys if keys is not None else (yield from text(retry_for, "/.well-known/poaw-keys.json"))
    newest = yield from text(retry_for, "/v1/log/head")
    path = heads_path(known, newest)
    consistency = None if path is None else (yield from _if_there(text(retry_for, path)))
    return compare_heads(known, newest, parse_keys(key_document), consistency, int(time.time() * 1000))


def _bind(
    retry_for: float, proof: Mapping[str, Any], head: str, keys: Mapping[str, PublishedKey]
) -> Operation[str]:
    signed = head_in(head)
    first, second = int(proof["tree_size"]), 0 if signed is None else int(signed["body"]["tree_size"])
    path = f"/v1/log/consistency?first={first}&second={second}"
    consistency = (yield from _if_there(text(retry_for, path))) if first < second else None
    return bind_to_head(proof, head, keys, consistency)


def _if_there(operation: Operation[Optional[str]]) -> Operation[Optional[str]]:
    """What the service does not offer, or not now, is None."""
    try:
        return (yield from operation)
    except ApiError:
        return None


def to_claim(path: str, raw: Any) -> Claim:
    """Raises UnexpectedAnswer for what is no claim: who waits for what a service never says would wait for ever."""
    if not isinstance(raw, dict) or not _is_claim(raw):
        raise UnexpectedAnswer(f"{path}: the answer is no claim: is this the address of the service?")
    return Claim(**{name: raw[name] for name in _CLAIM_FIELDS}, raw=raw)


def _is_claim(raw: Mapping[str, Any]) -> bool:
    state, verdict = raw.get("state"), raw.get("verdict")
    return (
        all(isinstance(raw.get(name), str) for name in _TEXTS)
        and all(name in raw and isinstance(raw[name], (str, type(None))) for name in _TEXTS_OR_NONE)
        and type(raw.get("attempts")) is int
        and parse_instant(raw["deadline_at"]) is not None
        and (verdict is not None if state == "decided" else state == "queued" and verdict is None)
    )


def _json(retry_for: float, method: str, path: str, body: Optional[Callable[[], str]] = None) -> Operation[Any]:
    response = yield from _request(retry_for, Request(method, path), body)
    return _parse(path, response.text)


def _parse(path: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UnexpectedAnswer(f"{path}: the answer is not JSON: is this the address of the service?") from error


def _request(retry_for: float, request: Request, body: Optional[Callable[[], str]] = None) -> Operation[Response]:
    """Every request here may be sent again: a claim carries the id by which the service knows it. ``body`` is asked before each try."""
    started = time.monotonic()
    for tried in itertools.count():
        try:
            response = yield request if body is None else replace(request, body=body())
            assert response is not None
            if 200 <= response.status < 300:
                return response
            failure: ClaimcheckError = error_of(response.status, response.text, retry_after(response.headers))
            if response.status not in TEMPORARY:
                raise failure
        except ConnectionFailed as error:
            failure = error
        pause = pause_before(failure, tried)
        if time.monotonic() - started + pause > retry_for:
            raise failure
        yield Pause(pause)
    raise AssertionError("unreachable")


def pause_before(failure: ClaimcheckError, tried: int) -> float:
    """The seconds before the next try. Clients that failed together do not come back together."""
    asked = (failure.retry_after if isinstance(failure, ApiError) else None) or 0.0
    return max(asked, min(_FIRST_PAUSE * 2 ** min(tried, 16), _MOST_BACK_OFF) * random.uniform(0.5, 1.0))


def retry_after(headers: Mapping[str, str]) -> Optional[float]:
    value = headers.get("retry-after", "")
    if value.isascii() and value.isdigit():
        return float(value)
    until = _date(value)
    # By the clock of the destination.
    now = _date(headers.get("date", ""))
    return None if until is None else max(0.0, until - (time.time() if now is None else now))


def _date(text: str) -> Optional[float]:
    try:
        return email.utils.parsedate_to_datetime(text).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None


def _timestamp(moment: Times) -> Optional[str]:
    if moment is None or isinstance(moment, str):
        return moment
    if moment.tzinfo is None:
        raise ValueError("a time needs its zone, such as datetime.now(timezone.utc)")
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def _id_of(claim: Union[str, Claim]) -> str:
    return claim if isinstance(claim, str) else claim.claim_id


def _segment(value: str) -> str:
    return quote(value, safe="")
