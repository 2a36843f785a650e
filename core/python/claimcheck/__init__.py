"""Submit claims to a Claimcheck service, wait for their verdicts, and check receipts without trusting it."""

from .aio import AsyncClient
from .checker import KeyDocumentError, PublishedKey, Report, check_receipt, parse_keys
from .client import Claimed, Client
from .errors import (
    ApiError,
    ClaimcheckError,
    ConnectionFailed,
    InvalidRequest,
    Issue,
    NotAuthorized,
    NotFound,
    RateLimited,
    Unavailable,
    WaitTimeout,
)
from .operations import Claim

__all__ = [
    "ApiError",
    "AsyncClient",
    "Claim",
    "ClaimcheckError",
    "Claimed",
    "Client",
    "ConnectionFailed",
    "InvalidRequest",
    "Issue",
    "KeyDocumentError",
    "NotAuthorized",
    "NotFound",
    "PublishedKey",
    "RateLimited",
    "Report",
    "Unavailable",
    "WaitTimeout",
    "check_receipt",
    "parse_keys",
]
