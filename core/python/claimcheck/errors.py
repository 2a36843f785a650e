"""What can go wrong when a program talks to the service."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, List, Mapping, Optional, Sequence, Type, Union

if TYPE_CHECKING:
    from .operations import Claim


class ClaimcheckError(Exception):
    """Any of the errors below."""


class ConnectionFailed(ClaimcheckError):
    """The service could not be reached, did not answer in time, or its answer broke off."""


class UnexpectedAnswer(ClaimcheckError):
    """What answered is not the service, or not as the service answers."""


class NotClaimed(ClaimcheckError):
    """The work is done, and claiming it failed. ``client.submit(**error.claim)`` submits it later: it has its id."""

    def __init__(self, result: Any, claim: Mapping[str, Any], cause: Exception):
        super().__init__(f"the work is done, but not claimed: {cause}")
        #: What the work returned.
        self.result = result
        self.claim = claim


class WaitTimeout(ClaimcheckError):
    """The claim is not decided yet. It goes on without the program that waited."""

    def __init__(self, claim: Claim, seconds: Optional[float] = None):
        """Without seconds: it is queued long after its deadline."""
        super().__init__(
            f"claim {claim.claim_id} is still queued, and its deadline was {claim.deadline_at}: the service does not decide it now. "
            "Ask its operator, or wait for it again later"
            if seconds is None
            else f"claim {claim.claim_id} is not decided after {seconds:g} s; it is checked until its deadline: wait for it again"
        )
        #: As it was last seen.
        self.claim = claim


@dataclass(frozen=True)
class Issue:
    """One mistake in a request."""

    #: Where, such as ``("body", "params", "sha")``.
    loc: Sequence[Union[str, int]]
    message: str
    kind: str

    @property
    def field(self) -> str:
        """As ``params.sha``."""
        return ".".join(str(part) for part in self.loc[1:] or self.loc)


class ApiError(ClaimcheckError):
    """The service answered with an error."""

    def __init__(
        self,
        status: int,
        message: str,
        issues: Sequence[Issue] = (),
        retry_after: Optional[float] = None,
        erased: Optional[Mapping[str, Any]] = None,
    ):
        super().__init__(f"the service answered {status}: {message}")
        self.status = status
        #: Without the status.
        self.message = message
        #: With 422: each mistake.
        self.issues = tuple(issues)
        #: How long the service asks to wait. Seconds.
        self.retry_after = retry_after
        #: With 410: when the content of the receipt was erased, and why.
        self.erased = erased


class InvalidRequest(ApiError):
    """400, 413, 415 or 422: the request is wrong. ``issues`` names the fields."""


class NotAuthorized(ApiError):
    """401: the key is missing, unknown, expired or revoked."""


class Forbidden(ApiError):
    """403: the key is good, but may not do this."""


class NotFound(ApiError):
    """404. What belongs to another workspace answers the same."""


class Gone(ApiError):
    """410: the content of the receipt was erased. Its entry in the log is still there."""


class RateLimited(ApiError):
    """429, also after all retries."""


class Unavailable(ApiError):
    """500 to 599, also after all retries."""


def error_of(status: int, text: str, retry_after: Optional[float]) -> ApiError:
    body = _body_of(text)
    detail = body.get("detail")
    issues = [_issue(item) for item in detail if isinstance(item, dict)] if isinstance(detail, list) else []
    said = "; ".join(f"{issue.field}: {issue.message}" for issue in issues)
    message = said or (detail if isinstance(detail, str) else text[:_MOST_DETAIL])
    kind = _CLASSES.get(status, Unavailable if status >= 500 else ApiError)
    return kind(status, message, issues, retry_after, body.get("erased"))


_MOST_DETAIL = 500
_CLASSES: Mapping[int, Type[ApiError]] = {
    400: InvalidRequest,
    401: NotAuthorized,
    403: Forbidden,
    404: NotFound,
    410: Gone,
    413: InvalidRequest,
    415: InvalidRequest,
    422: InvalidRequest,
    429: RateLimited,
}


def _body_of(text: str) -> Mapping[str, Any]:
    try:
        body = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _issue(item: Any) -> Issue:
    loc: List[Union[str, int]] = item.get("loc") if isinstance(item.get("loc"), list) else []
    return Issue(tuple(loc), str(item.get("msg", "")), str(item.get("type", "")))
