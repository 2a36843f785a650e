"""The structure of receipts, change entries, proofs and key documents, as the receipt format has it."""

from __future__ import annotations

import re
from typing import Any, Callable, Mapping

from .times import parse_instant

Shape = Callable[[Any], bool]

SAFE = 2**53 - 1

REASONS: Mapping[str, tuple] = {
    "verified": (),
    "late": ("observed_after_tolerance",),
    "mismatch": ("content_mismatch", "target_mismatch"),
    "failed": ("not_found",),
    "unverifiable": (
        "no_connection",
        "permission_denied",
        "rate_limited",
        "destination_unavailable",
        "unsupported_action",
        "claim_ambiguous",
        "verifier_error",
    ),
}


def obj(required: Mapping[str, Shape], optional: Mapping[str, Shape] = {}, closed: bool = False) -> Shape:
    """An object with these members, and others unless it is closed."""

    def check(value: Any) -> bool:
        return (
            isinstance(value, dict)
            and all(name in value and shape(value[name]) for name, shape in required.items())
            and all(name not in value or shape(value[name]) for name, shape in optional.items())
            and not (closed and any(name not in required and name not in optional for name in value))
        )

    return check


def text(least: int, most: float = float("inf")) -> Shape:
    """Lengths are in code points."""
    return lambda value: isinstance(value, str) and least <= len(value) <= most


def matching(pattern: str) -> Shape:
    compiled = re.compile(pattern, re.ASCII)
    return lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None


def integer(least: int, most: int = SAFE) -> Shape:
    def check(value: Any) -> bool:
        # A number such as 1.0 is an integer to JSON; whether it may be written so is another check.
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return False
        return value == value and value == int(value) and least <= value <= most if abs(value) <= SAFE else False

    return check


def one_of(*values: Any) -> Shape:
    return lambda value: isinstance(value, str) and value in values


def list_of(item: Shape) -> Shape:
    return lambda value: isinstance(value, list) and all(map(item, value))


def every(*shapes: Shape) -> Shape:
    return lambda value: all(shape(value) for shape in shapes)


def without(*names: str) -> Shape:
    return lambda value: isinstance(value, dict) and not any(name in value for name in names)


def either(*shapes: Shape) -> Shape:
    return lambda value: any(shape(value) for shape in shapes)


def implies(condition: Shape, consequence: Shape) -> Shape:
    return lambda value: not condition(value) or consequence(value)


def is_timestamp(value: Any) -> bool:
    """UTC with exactly three fraction digits, and a moment that exists."""
    return parse_instant(value) is not None


is_object: Shape = lambda value: isinstance(value, dict)
_any_text = text(0)
is_action = matching(r"[a-z0-9]+(\.[a-z0-9_]+){2}")
is_version = matching(r"[0-9]+")
_base64url = matching(r"[A-Za-z0-9_-]+")
# The last of 43 letters has two unused bits, the last of 86 has four: they are zero, or a value would have several texts.
is_hash = matching(r"[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]")
_signature_value = matching(r"[A-Za-z0-9_-]{85}[AQgw]")
_key_id = matching(r"ed25519:[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]")
_fingerprint = matching(r"sha256:[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]")
# Other issuers also write what enclaves measure, which is SHA-384, and hexadecimal. Nothing here is compared with it.
_code_hash = either(_fingerprint, matching(r"sha384:(?:[A-Za-z0-9_-]{64}|[0-9a-f]{96})"))
_document_digest = matching(r"(?:sha256:)?(?:[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]|[0-9a-f]{64})")
_transaction = matching(r"0x[0-9a-fA-F]{64}")
_issuer = obj({"key_id": _key_id}, {"name": text(0, 128)})
_level = integer(1, 4)
# It holds its document or names its digest, where the document travels outside of the body. This checker reads no attestation: one never raises a level.
_names_document = obj({"document_sha256": _document_digest})
_attestation = every(
    obj({"type": _any_text}, {"document": _base64url, "document_sha256": _document_digest}),
    either(obj({"document": _base64url}), _names_document),
)
_claims_attestation = obj({"trust_level": integer(3)})
_coded = obj({"code_hash": _code_hash})

_policy = obj(
    {"pipeline_id": matching(r"[a-z0-9][a-z0-9_-]{2,63}"), "pipeline_version": integer(1), "digest": is_hash}, closed=True
)
_signature = obj({"alg": one_of("Ed25519"), "key_id": _key_id, "value": _signature_value}, closed=True)

is_inclusion = obj(
    {
        "log_id": is_hash,
        "leaf_index": integer(0),
        "tree_size": integer(1),
        "root_hash": is_hash,
        "inclusion": list_of(is_hash),
    }
)
_anchor = obj(
    {
        "chain": _any_text,
        "scheme": one_of("eas"),
        "uid": _transaction,
        "tx_hash": _transaction,
        "tree_size": integer(1),
    }
)
_proof = every(is_inclusion, obj({}, {"anchor": _anchor}))
_agent = obj(
    {"id": text(1, 256)},
    {
        "erc8004": obj(
            {
                "chain": matching(r"[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}"),
                "registry": _any_text,
                "agent_id": _any_text,
            }
        )
    },
)
_claim = obj(
    {
        "action": is_action,
        "target": text(1, 512),
        "params": is_object,
        "claimed_at": is_timestamp,
        "claim_digest": is_hash,
    },
    {"client_claim_id": text(0, 256)},
)
_observation = obj(
    {
        "verifier": obj({"id": is_action, "version": is_version}, {"code_hash": _code_hash}),
        "observed_at": is_timestamp,
        "deadline_at": is_timestamp,
        "attempts": integer(1),
        "facts": is_object,
    }
)


def _verdict(value: Any) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("value"), str) or value["value"] not in REASONS:
        return False
    reasons = REASONS[value["value"]]
    return value["reason_code"] in reasons if "reason_code" in value else value["value"] != "unverifiable"


_receipt_body = every(
    obj(
        {
            "spec_version": one_of("poaw/0.1", "poaw/0.2"),
            "receipt_id": matching(r"rcpt_[0-9A-Za-z]{1,59}"),
            "issued_at": is_timestamp,
            "issuer": _issuer,
            "agent": _agent,
            "claim": _claim,
            "observation": _observation,
            "verdict": _verdict,
            "trust_level": _level,
        },
        {"operator": text(0, 256), "supersedes": _any_text, "attestation": _attestation, "policy": _policy},
    ),
    without("entry_kind"),
    implies(obj({"policy": is_object}), obj({"spec_version": one_of("poaw/0.2")})),
    implies(_claims_attestation, obj({"attestation": _attestation, "observation": obj({"verifier": _coded})})),
)

_change_body = every(
    obj(
        {
            "spec_version": one_of("poaw/0.2"),
            "entry_kind": one_of("change"),
            "change_id": text(1, 128),
            "issued_at": is_timestamp,
            "issuer": _issuer,
            "connector": matching(r"[a-z][a-z0-9_]{0,31}"),
            "event": is_action,
            "target": text(1, 512),
            "fingerprint": text(1, 256),
            "seen_at": is_timestamp,
            "facts": is_object,
            "watcher": obj({"id": text(1, 128), "version": is_version}, {"code_hash": _code_hash}),
            "policy": _policy,
            "trust_level": _level,
        },
        {"occurred_at": is_timestamp, "attestation": _attestation},
    ),
    without("claim", "observation", "verdict"),
    implies(_claims_attestation, obj({"attestation": _attestation, "watcher": _coded})),
)


def _entry(body: Shape) -> Shape:
    """Only the body is signed: a document of an attestation may come with it only where the body names its digest."""
    return every(
        obj({"body": body, "signature": _signature}, {"proof": _proof, "attestation_document": text(1)}, closed=True),
        implies(obj({"attestation_document": lambda value: True}), obj({"body": obj({"attestation": _names_document})})),
    )


is_receipt = _entry(_receipt_body)
is_change_entry = _entry(_change_body)
is_tree_head = obj(
    {
        "body": obj({"log_id": is_hash, "tree_size": integer(0), "root_hash": is_hash, "issued_at": is_timestamp}, closed=True),
        "signature": _signature,
    },
    closed=True,
)
is_consistency = obj(
    {
        "log_id": is_hash,
        "first": integer(1),
        "first_root": is_hash,
        "second": integer(1),
        "second_root": is_hash,
        "proof": list_of(is_hash),
    }
)
