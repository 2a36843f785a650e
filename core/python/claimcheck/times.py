"""Moments as text: in UTC with exactly three fraction digits, so that the texts sort like the moments."""

from __future__ import annotations

import re
from datetime import date
from typing import Any, Optional

_TIMESTAMP = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\.([0-9]{3})Z")
_DAY_MS = 86_400_000
_EPOCH = date(1970, 1, 1).toordinal()
#: Python has no year 0. Its calendar repeats after 400 years, which have so many days.
_CYCLE = 146_097


def parse_instant(text: Any) -> Optional[int]:
    """Milliseconds since 1970; None unless the text is exactly what ``format_instant`` writes for some moment."""
    match = _TIMESTAMP.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    year, month, day, hour, minute, second, ms = map(int, match.groups())
    if hour > 23 or minute > 59 or second > 59:
        return None
    try:
        ordinal = date(year or 400, month, day).toordinal() - (0 if year else _CYCLE)
    except ValueError:
        return None
    return (ordinal - _EPOCH) * _DAY_MS + ((hour * 60 + minute) * 60 + second) * 1000 + ms


_FIRST, _LAST = parse_instant("0000-01-01T00:00:00.000Z"), parse_instant("9999-12-31T23:59:59.999Z")


def format_instant(instant: int) -> str:
    """Raises OverflowError for a moment outside the years 0000 to 9999."""
    if not _FIRST <= instant <= _LAST:
        raise OverflowError("the moment has no four-digit year")
    days, ms = divmod(instant, _DAY_MS)
    ordinal = days + _EPOCH
    day = date.fromordinal(ordinal if ordinal > 0 else ordinal + _CYCLE).isoformat()
    seconds, ms = divmod(ms, 1000)
    minutes, second = divmod(seconds, 60)
    year = day[:4] if ordinal > 0 else "0000"
    return f"{year}{day[4:]}T{minutes // 60:02d}:{minutes % 60:02d}:{second:02d}.{ms:03d}Z"
