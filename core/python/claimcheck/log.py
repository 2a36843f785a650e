"""The log: its signed heads, the consistency of two of its states, and whether the root of a proof is the log's."""

from __future__ import annotations

from typing import Any, List, Mapping, Optional, Tuple

from . import ed25519
from .canonical import canonicalize, parse_strict
from .checker import PublishedKey, from_base64url, sha256
from .shapes import is_consistency, is_tree_head
from .times import parse_instant

_DOMAIN = "POAW-TREE-HEAD-V0"
_LONGEST_LAG_MS = 300_000
_OF_STATES = {
    "holds": "continues",
    "other_root": "lost",
    "smaller_than_proof": "lost",
    "other_log": "other_log",
    "not_signed": "unknown",
    "consistency_proof_required": "unknown",
}


def check_tree_head(text: str, keys: Mapping[str, PublishedKey]) -> bool:
    """Whether the text is a signed head of a log, by a key that was in use then. Any text gives an answer."""
    head = _integers(text)
    if not is_tree_head(head):
        return False
    body, signature = head["body"], head["signature"]
    key = keys.get(signature["key_id"])
    if key is None or not key.in_use(body["issued_at"]):
        return False
    value = from_base64url(signature["value"], 64)
    return value is not None and ed25519.verify(value, f"{_DOMAIN}\n{canonicalize(body)}".encode(), key.public_key)


def check_consistency(text: str) -> bool:
    """Whether the proof of a consistency document connects its two roots. That these are the log's is proven by signed heads alone."""
    document = _integers(text)
    if not is_consistency(document):
        return False
    first, second = int(document["first"]), int(document["second"])
    roots = [from_base64url(document[name]) for name in ("first_root", "second_root")]
    path = [from_base64url(sibling) for sibling in document["proof"]]
    return _is_consistent((first, roots[0] or b""), (second, roots[1] or b""), [one or b"" for one in path])


def bind_to_head(
    proof: Mapping[str, Any], text: str, keys: Mapping[str, PublishedKey], consistency: Optional[str]
) -> str:
    """``holds`` if the root of a receipt's proof is the log's: a signed head has it, or a consistency proof leads to one.

    Otherwise ``not_signed``, ``other_log``, ``other_root``, ``smaller_than_proof`` or ``consistency_proof_required``.
    ``text`` is a signed tree head, or the answer of ``/v1/log/head``. Any texts give an answer.
    """
    head = head_in(text)
    if head is None or not check_tree_head(canonicalize(head), keys):
        return "not_signed"
    body = head["body"]
    size, proven = int(body["tree_size"]), int(proof["tree_size"])
    if body["log_id"] != proof["log_id"]:
        return "other_log"
    # A proof leads from a smaller tree to a signed one only: the other way round, the size of the larger is open to change.
    if size < proven:
        return "smaller_than_proof"
    older, newer = from_base64url(proof["root_hash"]) or b"", from_base64url(body["root_hash"]) or b""
    if size == proven:
        return "holds" if older == newer else "other_root"
    if consistency is None:
        return "consistency_proof_required"
    document = _read(consistency)
    if not is_consistency(document):
        return "other_root"
    # Only its path counts: it must connect the sizes and roots at hand, whatever the document says of them.
    path = [from_base64url(sibling) or b"" for sibling in document["proof"]]
    return "holds" if _is_consistent((proven, older), (size, newer), path) else "other_root"


def compare_heads(
    known: str, newest: str, keys: Mapping[str, PublishedKey], consistency: Optional[str], now_ms: int
) -> str:
    """Whether the log still has a state that it signed before: ``continues``, ``lost``, ``other_log`` or ``unknown``.

    ``known`` is a head that was kept, ``newest`` that of the log now, and ``consistency`` the log's document from the one to the
    other; see ``heads_path``. A kept head that is younger than some minutes may be newer than what a replica has.
    """
    kept = head_in(known)
    if kept is None or not check_tree_head(canonicalize(kept), keys):
        return "unknown"
    found = bind_to_head(kept["body"], newest, keys, consistency)
    if found == "smaller_than_proof":
        later = head_in(newest)
        issued_at = kept["body"]["issued_at"]
        is_later = later is not None and later["body"]["issued_at"] > issued_at
        if not is_later and now_ms - (parse_instant(issued_at) or 0) < _LONGEST_LAG_MS:
            return "unknown"
    return _OF_STATES[found]


def heads_path(known: str, newest: str) -> Optional[str]:
    """Where the log has the proof from a kept head to its newest; None where none is needed or possible."""
    heads = [head_in(known), head_in(newest)]
    first, second = (0 if head is None else int(head["body"]["tree_size"]) for head in heads)
    return f"/v1/log/consistency?first={first}&second={second}" if 0 < first < second else None


def check_contradiction(text: str, keys: Mapping[str, PublishedKey]) -> str:
    """Checks the file that a host writes when a client has a signed head that its log does not contain.

    ``other_root``: two trees of one size are signed. ``shrank``: a later head is of a smaller tree. ``open``: both may be of one
    log, as the log's head is the older one. ``none``: a head is not signed, of another log, or in the other one.
    """
    document = _integers(text)
    if not isinstance(document, dict):
        return "none"
    client, log = document.get("tree_head_of_client"), document.get("tree_head_of_log")
    for head in (client, log):
        if not is_tree_head(head) or not check_tree_head(canonicalize(head), keys):
            return "none"
    first, second = client["body"], log["body"]
    if first["log_id"] != second["log_id"]:
        return "none"
    if second["tree_size"] < first["tree_size"]:
        return "shrank" if second["issued_at"] > first["issued_at"] else "open"
    root = second["root_hash"]
    if second["tree_size"] > first["tree_size"]:
        proof = document.get("consistency")
        if not is_consistency(proof) or not check_consistency(canonicalize(proof)):
            return "none"
        sizes = (int(proof["first"]), int(proof["second"]))
        if sizes != (int(first["tree_size"]), int(second["tree_size"])) or proof["second_root"] != second["root_hash"]:
            return "none"
        root = proof["first_root"]
    return "none" if from_base64url(root) == from_base64url(first["root_hash"]) else "other_root"


def head_in(text: str) -> Optional[Mapping[str, Any]]:
    """The signed head in a document; None for what has none."""
    value = _integers(text)
    head = value["tree_head"] if isinstance(value, dict) and "tree_head" in value else value
    return head if is_tree_head(head) else None


def _integers(text: str) -> Any:
    try:
        read = parse_strict(text)
    except ValueError:
        return None
    return read.value if read.integers_only else None


def _read(text: str) -> Any:
    try:
        return parse_strict(text).value
    except ValueError:
        return None


def _is_consistent(older: Tuple[int, bytes], newer: Tuple[int, bytes], path: List[bytes]) -> bool:
    """RFC 9162 2.1.4.2."""
    (first, first_root), (second, second_root) = older, newer
    if not 0 < first <= second:
        return False
    if first == second:
        return not path and first_root == second_root
    index, last = first - 1, second - 1
    while index % 2 == 1:
        index, last = index // 2, last // 2
    # It starts at the largest perfect subtree at the end of the first tree, which may be the whole of it.
    start, *siblings = [first_root, *path] if index == 0 else path or [b""]
    if not start:
        return False
    first_hash = second_hash = start
    for sibling in siblings:
        if last == 0:
            return False
        if index % 2 == 1 or index == last:
            first_hash = sha256(b"\1" + sibling + first_hash)
            second_hash = sha256(b"\1" + sibling + second_hash)
            while index % 2 == 0 and index != 0:
                index, last = index // 2, last // 2
        else:
            second_hash = sha256(b"\1" + second_hash + sibling)
        index, last = index // 2, last // 2
    return last == 0 and first_hash == first_root and second_hash == second_root
