"""What can go wrong when a program talks to the service."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, List, Optional, Sequence, Union


class ClaimcheckError(Exception):
    """Any of the errors below."""


class ConnectionFailed(ClaimcheckError):
    """The service could not be reached, or its answer could not be read."""


class WaitTimeout(ClaimcheckError):
    """The claim is not decided yet. It goes on without the program that waited."""

    def __init__(self, claim_id: str, seconds: float):
        super().__init__(f"claim {claim_id} is not decided after {seconds:g} s; it is checked until its deadline: wait for it again")
        self.claim_id = claim_id


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

    def __init__(self, status: int, message: str, issues: Sequence[Issue] = (), retry_after: Optional[float] = None):
        super().__init__(f"the service answered {status}: {message}")
        self.status = status
        #: Without the status.
        self.message = message
        #: With 422: each mistake.
        self.issues = tuple(issues)
        #: How long the service asks to wait. Seconds.
        self.retry_after = retry_after


class InvalidRequest(ApiError):
    """400, 413 or 422. ``issues`` names the fields."""


class NotAuthorized(ApiError):
    """401 or 403: the key is missing, unknown, revoked, or may not do this."""


class NotFound(ApiError):
    """404 or 410."""


class RateLimited(ApiError):
    """429, also after all retries."""


class Unavailable(ApiError):
    """500 to 599, also after all retries."""


def error_of(status: int, text: str, retry_after: Optional[float]) -> ApiError:
    detail = _detail_of(text)
    issues = [_issue(item) for item in detail if isinstance(item, dict)] if isinstance(detail, list) else []
    message = "; ".join(f"{issue.field}: {issue.message}" for issue in issues) or str(detail)
    return _class_of(status)(status, message, issues, retry_after)


def _class_of(status: int) -> type:
    if status in (400, 413, 422):
        return InvalidRequest
    if status in (401, 403):
        return NotAuthorized
    if status in (404, 410):
        return NotFound
    if status == 429:
        return RateLimited
    return Unavailable if status >= 500 else ApiError


def _detail_of(text: str) -> Any:
    try:
        document = json.loads(text)
    except ValueError:
        return text[:500]
    return document.get("detail", text[:500]) if isinstance(document, dict) else text[:500]


def _issue(item: Any) -> Issue:
    loc: List[Union[str, int]] = item.get("loc") if isinstance(item.get("loc"), list) else []
    return Issue(tuple(loc), str(item.get("msg", "")), str(item.get("type", "")))
