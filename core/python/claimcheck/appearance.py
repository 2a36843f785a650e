"""When an outcome appeared, by the destination's own log and by our reads."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Callable, Optional, Sequence

from .records import Instant, Read, Stay


@dataclass(frozen=True)
class Interval:
    not_before: Instant
    not_after: Instant
    #: ``destination``: its own log narrowed it. ``observation``: our reads alone.
    source: str


@dataclass(frozen=True)
class Window:
    """The time in which an outcome is what was claimed."""

    claimed_at: int
    #: How long before that it may have come and gone again, and still be what was claimed.
    removed_within_ms: int
    in_time_until: int

    def counts(self, stay: Stay) -> bool:
        """What was forced away before the claim may be pushed again and is not; what went with its whole branch ("merged, done") is."""
        start = self.claimed_at - self.removed_within_ms
        return stay.removed_from >= self.claimed_at or (stay.removed_whole and stay.appeared_from >= start)

    def may_count(self, stay: Stay) -> bool:
        """As ``counts``, where what is not certain is taken in favour of the agent."""
        start = self.claimed_at - self.removed_within_ms
        if stay.appeared_from > self.in_time_until:
            return False
        return stay.removed_until >= self.claimed_at or (stay.removed_whole and stay.appeared_until >= start)

    def remembers(self, stay: Stay) -> bool:
        """Its end is so recent that it must not be blamed on the agent."""
        return stay.removed_until >= self.claimed_at - self.removed_within_ms


@dataclass(frozen=True)
class Account:
    #: None where nothing shows that it appeared, and where the evidence excludes itself.
    interval: Optional[Interval]
    #: The last read that shows it, by itself or by its log. None: none does.
    shown_by: Optional[Read]
    #: A log can be read here, and does not list it.
    is_unlisted: bool
    #: The log shows a stay that may have been in time and may be what was claimed, though neither is certain. It forbids blame.
    may_have_been_in_time: bool


def account_of(reads: Sequence[Read], window: Window, is_believed: Callable[[Read, Stay], bool]) -> Account:
    """What is not believed verifies nothing and bounds nothing; it still forbids blame."""
    shown = [read for read in reads if read.shows_outcome]
    listing, points, remembering = [], [], []
    may_have_been_in_time = False
    for read in reads:
        stays = read.bounded_stays()
        counting = [stay for stay in stays if window.counts(stay) and is_believed(read, stay)]
        listed = [stay for stay in counting if stay.appeared_until < math.inf]
        if listed:
            listing.append(read)
            points.append(min(listed, key=lambda stay: stay.appeared_until))
        if any(map(window.remembers, stays)):
            remembering.append(read)
        may_have_been_in_time |= any(window.may_count(stay) and stay not in counting for stay in stays)
    latest = max([*shown[-1:], *listing[-1:]], key=lambda read: read.sent_at, default=None)
    return Account(
        interval=_interval_of(reads, shown, points),
        shown_by=latest or (remembering[-1] if remembering else None),
        is_unlisted=not listing and any(read.stays is not None for read in reads),
        may_have_been_in_time=may_have_been_in_time,
    )


def _interval_of(reads: Sequence[Read], shown: Sequence[Read], points: Sequence[Stay]) -> Optional[Interval]:
    if not shown and not points:
        return None
    point_from = max((point.appeared_from for point in points), default=-math.inf)
    not_after = min([*(read.answered_at for read in shown), *(point.appeared_until for point in points)])
    unseen_until = _unseen_until(reads)
    # Points that exclude each other or lie after an answer that showed the outcome; or reads that do, where no log says more.
    if (point_from if points else unseen_until) > not_after:
        return None
    # The log outweighs our reads, which a stale replica may have answered.
    read_from = unseen_until if unseen_until <= not_after else -math.inf
    not_before = point_from if point_from > -math.inf else read_from
    return Interval(not_before, not_after, "destination" if points else "observation")


def _unseen_until(reads: Sequence[Read]) -> Instant:
    """Until when reads did not show the outcome. Only those before the first that showed it count, by their order, so that a clock that was set
    back shows as a contradiction."""
    until: Instant = -math.inf
    has_forgotten = False
    for read in reads:
        if read.shows_outcome:
            return until
        has_forgotten = has_forgotten or read.mark == "may_have_been"
        if read.mark == "unsettled":
            continue
        # After the place has forgotten once, only its own record says that it was not there.
        if not has_forgotten or read.mark == "never_before":
            until = max(until, read.shown_at)
    # No read showed it.
    return -math.inf
