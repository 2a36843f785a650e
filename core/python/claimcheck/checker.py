"""The checker: whether a receipt is valid, check by check, from its text and the issuer's published keys alone."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Union

from . import ed25519
from .canonical import Strict, canonicalize, parse_strict
from .files import Document, entry_in, text_of
from .shapes import is_change_entry, is_inclusion, is_receipt, is_timestamp

if TYPE_CHECKING:
    from .evidence import EvidenceFinding

_DOMAINS = {"receipt": "POAW-RECEIPT-V0", "change": "POAW-CHANGE-V0"}


@dataclass(frozen=True)
class PublishedKey:
    key_id: str
    public_key: bytes
    valid_from: str
    revoked_at: Optional[str]

    def in_use(self, at: str) -> bool:
        """Timestamps of this form sort like the moments."""
        return self.valid_from <= at and (self.revoked_at is None or at < self.revoked_at)


@dataclass(frozen=True)
class Report:
    """What the check found.

    ``checks`` has the result of each check by its name: True, False, or a word such as ``absent``.
    """

    #: All checks hold, and something vouches for the key.
    valid: bool
    checks: Mapping[str, Union[bool, str]]
    #: 1 when the receipt is valid: this checker reads no chain. 0 otherwise.
    achieved_trust_level: int
    verdict: Optional[str]
    #: ``change`` for a change entry.
    entry_kind: Optional[str] = None
    #: What says that the key is the issuer's: ``pin``, ``keys`` (you gave them), ``issuer`` (its address published them), or ``nothing``.
    vouched_by: str = "keys"
    #: Set where all checks hold: whether the key document names accounts that anchor. Where it names none, no anchor will follow.
    #: None where no key document was at hand.
    issuer_anchors: Optional[bool] = None
    #: The document, when all checks hold.
    document: Optional[Mapping[str, Any]] = field(default=None, repr=False)
    #: Set where all checks hold, by ``client.verify`` and ``check_bundle``: ``holds`` where a signed head of the log has it; see ``bind_to_head``.
    #: None without a proof or a head.
    tree_head: Optional[str] = None
    #: Of such a receipt, by both: whether its verdict follows from its evidence. It makes no receipt invalid.
    evidence: Optional[EvidenceFinding] = None

    @property
    def problems(self) -> List[str]:
        """The checks that failed."""
        return [name for name, result in self.checks.items() if result is False]


class KeyDocumentError(ValueError):
    """The text is not a key document."""


def parse_keys(text: Document) -> Dict[str, PublishedKey]:
    """The keys of ``/.well-known/poaw-keys.json`` by their ids.

    An entry that is malformed, has an id other than the hash of its key, or shares its id with another is left out: nothing is valid
    under it. Raises KeyDocumentError when the text is not a key document at all.
    """
    document = _try_parse(text_of(text))
    entries = document.value.get("keys") if document and isinstance(document.value, dict) else None
    if not isinstance(entries, list):
        raise KeyDocumentError("the text is not a key document")
    ids = Counter(key_id for entry in entries if isinstance(key_id := _object(entry).get("key_id"), str))
    keys = [key for key in map(_to_key, entries) if key is not None]
    return {key.key_id: key for key in keys if ids[key.key_id] == 1}


def check_receipt(text: Document, keys: Mapping[str, PublishedKey], pipeline: Optional[str] = None) -> Report:
    """Checks the text of a receipt or a change entry, or the bytes of its file. Any text gives a report.

    Raises NotADocument for bytes that are no text or hold no receipt: a report would say that a receipt is not valid.

    The anchor is not looked up: that needs a node of its chain. ``pipeline`` is the text of the document that a policy names.
    """
    read = _try_parse(entry_in(text) if isinstance(text, bytes) else text)
    if read is None or not isinstance(read.value, dict):
        return _UNREADABLE
    document = read.value
    body = _object(document.get("body"))
    is_change = body.get("entry_kind") == "change"
    key = _key_of(document, body, keys)
    checks: Dict[str, Union[bool, str]] = {
        "spec_version": _is_supported(body.get("spec_version")),
        "schema": is_change_entry(document) if is_change else is_receipt(document),
        "integers_only": read.integers_only,
        "key": key is not None,
        "signature": key is not None and _is_signed(document, body, key, "change" if is_change else "receipt"),
    }
    if not is_change:
        checks["claim_digest"] = _has_its_digest(body.get("claim"))
    checks["inclusion"] = _check_inclusion(document)
    if "policy" in body:
        checks["policy"] = _check_policy(body["policy"], pipeline)
    valid = False not in checks.values()
    proof = document.get("proof")
    checks["anchor"] = "not_checked_offline" if isinstance(proof, dict) and "anchor" in proof else "absent"
    return Report(
        valid=valid,
        checks=checks,
        achieved_trust_level=min(int(body["trust_level"]), 1) if valid else 0,
        verdict=body["verdict"]["value"] if valid and not is_change else None,
        entry_kind="change" if is_change else None,
        document=document if valid else None,
    )


def names_anchors(key_document: str) -> bool:
    """Whether a key document names accounts that anchor."""
    read = _try_parse(key_document)
    accounts = _object(read.value if read else None).get("anchor_addresses")
    return isinstance(accounts, list) and any(isinstance(account, str) for account in accounts)


_UNREADABLE = Report(
    valid=False,
    checks={
        "spec_version": False,
        "schema": False,
        "integers_only": False,
        "key": False,
        "signature": False,
        "claim_digest": False,
        "inclusion": "absent",
        "anchor": "absent",
    },
    achieved_trust_level=0,
    verdict=None,
)


def _try_parse(text: str) -> Optional[Strict]:
    try:
        return parse_strict(text)
    except ValueError:
        return None


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _to_key(entry: Any) -> Optional[PublishedKey]:
    entry = _object(entry)
    public_key = from_base64url(entry.get("public_key"), 32)
    valid_from, revoked_at = entry.get("valid_from"), entry.get("revoked_at", "")
    if public_key is None or not is_timestamp(valid_from) or not (revoked_at is None or is_timestamp(revoked_at)):
        return None
    key_id = f"ed25519:{to_base64url(sha256(public_key))}"
    return PublishedKey(key_id, public_key, valid_from, revoked_at) if entry.get("key_id") == key_id else None


def _key_of(document: Mapping[str, Any], body: Mapping[str, Any], keys: Mapping[str, PublishedKey]):
    """The published key that body and signature both name, if it was in use when the entry was issued."""
    key_id = _object(document.get("signature")).get("key_id")
    issued_at = body.get("issued_at")
    if not isinstance(key_id, str) or key_id != _object(body.get("issuer")).get("key_id") or not is_timestamp(issued_at):
        return None
    key = keys.get(key_id)
    return key if key is not None and key.in_use(issued_at) else None


def _is_supported(version: Any) -> bool:
    return isinstance(version, str) and re.fullmatch(r"poaw/0\.[0-9]+", version) is not None


def _is_signed(document: Mapping[str, Any], body: Mapping[str, Any], key: PublishedKey, kind: str) -> bool:
    # Each kind of document has its own domain, so that a signature of one is never valid for another.
    signature = from_base64url(_object(document.get("signature")).get("value"), 64)
    message = f"{_DOMAINS[kind]}\n{canonicalize(body)}".encode()
    return signature is not None and ed25519.verify(signature, message, key.public_key)


def _has_its_digest(claim: Any) -> bool:
    if not isinstance(claim, dict):
        return False
    digested = {name: value for name, value in claim.items() if name != "claim_digest"}
    return claim.get("claim_digest") == _digest(digested)


def _check_inclusion(document: Mapping[str, Any]) -> Union[bool, str]:
    """Whether the entry is in the tree with the proof's root. That this is the log's root is proven by an anchor or a signed tree head."""
    if "proof" not in document:
        return "absent"
    proof = document["proof"]
    if "body" not in document or "signature" not in document or not is_inclusion(proof):
        return False
    entry = canonicalize({"body": document["body"], "signature": document["signature"]})
    index, last = int(proof["leaf_index"]), int(proof["tree_size"]) - 1
    if index > last:
        return False
    node = sha256(b"\0" + entry.encode())
    # RFC 9162 2.1.3.2.
    for sibling in map(from_base64url, proof["inclusion"]):
        if last == 0:
            return False
        if index % 2 == 1 or index == last:
            while index % 2 == 0:
                index, last = index // 2, last // 2
            node = sha256(b"\1" + sibling + node)
        else:
            node = sha256(b"\1" + node + sibling)
        index, last = index // 2, last // 2
    return last == 0 and node == from_base64url(proof["root_hash"])


def _check_policy(policy: Any, pipeline: Optional[str]) -> Union[bool, str]:
    if pipeline is None:
        return "not_checked"
    read = _try_parse(pipeline)
    if read is None or not read.integers_only or not isinstance(read.value, dict) or not isinstance(policy, dict):
        return False
    document = read.value
    named = (policy.get("pipeline_id"), policy.get("pipeline_version"), policy.get("digest"))
    return named == (document.get("id"), document.get("version"), _digest(document))


def _digest(value: Any) -> str:
    return to_base64url(sha256(canonicalize(value).encode()))


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def to_base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def from_base64url(text: Any, length: Optional[int] = None) -> Optional[bytes]:
    """The bytes; None for what is not the one text of so many bytes."""
    if not isinstance(text, str) or re.fullmatch(r"[A-Za-z0-9_-]*", text) is None or len(text) % 4 == 1:
        return None
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    # Otherwise unused bits are set.
    return data if to_base64url(data) == text and length in (None, len(data)) else None
