"""Checks of a claim, as evidence records them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, List, Mapping, Optional, Sequence, Union

#: A moment in milliseconds since 1970; minus or plus infinity where nothing bounds it.
Instant = Union[int, float]

#: Further off than this, a destination's clock tells nothing about when. Milliseconds.
_LARGEST_CLOCK_OFFSET_MS = 24 * 60 * 60_000


@dataclass(frozen=True)
class Stay:
    """A time in which the outcome was there, by the destination's log. While it is there, it is removed in infinity."""

    appeared_from: Instant
    appeared_until: Instant
    removed_from: Instant
    removed_until: Instant
    removed_whole: bool


@dataclass(frozen=True)
class Check:
    sent_at: int
    answered_at: int


@dataclass(frozen=True)
class Read(Check):
    """A check that read the destination."""

    clock_offset_ms: int
    dated: bool
    age_ms: int
    source: Optional[Mapping[str, Any]]
    #: The required fields that do not match: empty where the outcome is there as claimed, None where it is absent.
    differs: Optional[Sequence[str]]
    mark: Optional[str]
    #: None where no log can be read.
    stays: Optional[Sequence[Stay]]
    facts: Mapping[str, Any]
    #: Of the source's origin. None where they were not counted.
    answers: Optional[int] = None
    #: At least so far was the destination's clock ahead of ours; below 0, behind it. None where neither is certain. Milliseconds.
    clock_ahead_ms: Optional[int] = None
    #: Our own clock was set by so much since the submission. Milliseconds.
    clock_set_ms: int = 0

    @property
    def shows_outcome(self) -> bool:
        return self.differs is not None and not self.differs

    @property
    def shown_at(self) -> int:
        """The answer shows the state at this moment or a later one."""
        return self.sent_at - self.age_ms

    def bounded_stays(self) -> List[Stay]:
        """Its stays, their times widened by what the destination's clock may be off. Without a ``Date`` nothing bounds that."""
        is_known = self.dated and self.clock_offset_ms <= _LARGEST_CLOCK_OFFSET_MS
        offset = self.clock_offset_ms if is_known else math.inf
        return [
            Stay(
                stay.appeared_from - offset,
                stay.appeared_until + offset,
                # What was not removed is there, whatever the clock says.
                math.inf if stay.removed_from == math.inf else stay.removed_from - offset,
                stay.removed_until + offset,
                stay.removed_whole,
            )
            for stay in self.stays or ()
        ]


@dataclass(frozen=True)
class Failure(Check):
    """A check that could not read it."""

    code: str
    status: Optional[int]
    #: The destination asked not to be read again before this; 0 where it did not.
    retry_at: int
    #: Its owner removed the connection under which the claim was submitted.
    connection_removed: bool = False
