"""The file that the page of a receipt offers: the receipt, and all that it is checked with."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Dict, Mapping, Optional

from .checker import PublishedKey, Report, check_receipt, names_anchors, parse_keys
from .evidence import check_evidence
from .files import Document, text_of
from .log import bind_to_head


def check_bundle(text: Document, keys: Optional[Document] = None, pin: Optional[str] = None) -> Report:
    """Checks a bundle, as text or as the bytes of its file: its receipt, its signed head of the log, and whether its verdict follows from its evidence.

    The maker of a bundle can put any key into it, and any name: ``valid`` asks for something that vouches for the key. ``keys`` is
    the issuer's key document, from a person you trust; ``pin`` is the id of the one key that must have signed. Without either,
    ``valid`` is False and ``vouched_by`` is ``nothing``. Raises ValueError for what is no bundle, and KeyDocumentError.
    """
    bundle = read_bundle(text_of(text))
    key_document = text_of(keys) if keys is not None else bundle.get("keys", "")
    trusted = parse_keys(key_document)
    voucher = "nothing" if keys is None else "keys"
    report = check_receipt(bundle["receipt"], trusted)
    if report.document is None:
        return replace(report, vouched_by=voucher)
    if pin is not None:
        voucher = "pin" if report.document["signature"]["key_id"] == pin else "nothing"
    # The pinned key alone is trusted of those in a bundle: its maker could sign a head of another log.
    heads = trusted if pin is None or keys is not None else {key: trusted[key] for key in trusted if key == pin}
    found = replace(
        report,
        vouched_by=voucher,
        issuer_anchors=names_anchors(key_document),
        tree_head=_tree_head(report.document, bundle, heads),
        evidence=None
        if report.entry_kind
        else check_evidence(report.document["body"], bundle.get("evidence"), bundle.get("profiles")),
    )
    return found if voucher != "nothing" else replace(found, valid=False, achieved_trust_level=0, verdict=None)


def _tree_head(document: Mapping[str, Any], bundle: Mapping[str, str], keys: Mapping[str, PublishedKey]) -> Optional[str]:
    proof, head = document.get("proof"), bundle.get("tree_head")
    return None if proof is None or head is None else bind_to_head(proof, head, keys, bundle.get("consistency"))


def read_bundle(text: str) -> Dict[str, str]:
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise ValueError("the text is not a bundle") from error
    if not isinstance(value, dict) or value.get("bundle") != "claimcheck/1" or not isinstance(value.get("receipt"), str):
        raise ValueError("the text is not a bundle")
    return {name: member for name, member in value.items() if isinstance(member, str)}
