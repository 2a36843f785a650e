"""Submit claims to a Claimcheck service, wait for their verdicts, and check receipts without trusting it."""

from .aio import AsyncClient
from .bundle import check_bundle
from .checker import KeyDocumentError, PublishedKey, Report, check_receipt, parse_keys
from .claiming import Claimed, claims
from .client import Client
from .errors import (
    ApiError,
    ClaimcheckError,
    ConnectionFailed,
    Forbidden,
    Gone,
    InvalidRequest,
    Issue,
    NotAuthorized,
    NotClaimed,
    NotFound,
    RateLimited,
    Unavailable,
    UnexpectedAnswer,
    WaitTimeout,
)
from .events import Event
from .evidence import EvidenceFinding, check_evidence
from .files import NotADocument
from .log import bind_to_head, check_consistency, check_contradiction, check_tree_head, compare_heads, heads_path
from .operations import Claim

__all__ = [
    "ApiError",
    "AsyncClient",
    "Claim",
    "ClaimcheckError",
    "Claimed",
    "Client",
    "ConnectionFailed",
    "Event",
    "EvidenceFinding",
    "Forbidden",
    "Gone",
    "InvalidRequest",
    "Issue",
    "KeyDocumentError",
    "NotADocument",
    "NotAuthorized",
    "NotClaimed",
    "NotFound",
    "PublishedKey",
    "RateLimited",
    "Report",
    "Unavailable",
    "UnexpectedAnswer",
    "WaitTimeout",
    "bind_to_head",
    "check_bundle",
    "check_consistency",
    "check_contradiction",
    "check_evidence",
    "check_receipt",
    "check_tree_head",
    "claims",
    "compare_heads",
    "heads_path",
    "parse_keys",
]
