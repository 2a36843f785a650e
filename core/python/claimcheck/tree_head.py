"""Which of two signed heads, in the form of the HTTP field Poaw-Tree-Head, says more of a log."""

from __future__ import annotations

import re
from typing import Optional, Tuple

_LONGEST = 512
_HEAD = re.compile(
    r'log_id="([\w-]{43})", tree_size=(\d{1,16}), root_hash="[\w-]{43}", issued_at="([\d:.TZ-]{24})",'
    r' key_id="ed25519:[\w-]{43}", signature="[\w-]{86}"',
    re.ASCII,
)


def newer(one: Optional[str], other: Optional[str]) -> Optional[str]:
    """Of one log, that of the larger tree; of two logs, that which was issued later. What is no head says nothing."""
    first, second = _read(one), _read(other)
    if first is None or second is None:
        return other if second is not None else one if first is not None else None
    is_newer = second[1] > first[1] if second[0] == first[0] else second[2] > first[2]
    return other if is_newer else one


def _read(text: Optional[str]) -> Optional[Tuple[str, int, str]]:
    found = None if text is None or len(text) > _LONGEST else _HEAD.fullmatch(text)
    return None if found is None else (found[1], int(found[2]), found[3])
