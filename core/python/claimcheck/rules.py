"""The verdict rules in all their versions: a claim is judged by the version that its profile names."""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import Dict, List, Mapping, Optional, Sequence, Tuple

from .appearance import Interval, Window, account_of
from .records import Check, Failure, Instant, Read, Stay

#: Blame rests on two successful reads at least this far apart, so that one odd answer blames no agent. Milliseconds.
_CONFIRMATION_MS = 2000

#: A look this soon after the submission of a fresh claim leaves no room for an outcome that came and went before it. Milliseconds.
_PROMPT_MS = 5000

#: By rules of version 2: without a log, looks that are further apart blame nobody. Milliseconds.
_LARGEST_GAP_MS = 30_000

#: By rules of version 2: a replica may lag by so much behind what its log will tell. Milliseconds.
_LAG_MS = 60_000

#: By rules of version 2: a client's clock that is further ahead makes no claim fresh. Milliseconds.
_LARGEST_AHEAD_MS = 1000

#: The reason of an ``unverifiable`` that a failed check causes. A place that answered is not called unavailable: what it showed decides nothing.
FAILURE_REASONS: Mapping[str, str] = {
    "unauthorized": "permission_denied",
    "forbidden": "permission_denied",
    "no_connection": "no_connection",
    "rate_limited": "rate_limited",
    "unavailable": "destination_unavailable",
    "timeout": "destination_unavailable",
    "unexpected_response": "claim_ambiguous",
    "too_large": "claim_ambiguous",
    "misconfigured": "no_connection",
    "unsupported_target": "unsupported_action",
    "ambiguous_claim": "claim_ambiguous",
    "unsupported_action": "unsupported_action",
    "verifier_error": "verifier_error",
}

#: Looking again cannot help.
_FINAL_FAILURES = ("ambiguous_claim", "no_connection", "unsupported_action", "unsupported_target")


@dataclass(frozen=True)
class Rules:
    """The part of a profile on which verdicts depend, and how the end of a claim's time is handled."""

    version: int
    #: The role of each field that must match: ``target`` or ``content``.
    required: Mapping[str, str]
    tolerance_ms: int
    age_ms: int
    removed_within_ms: int
    fresh_ms: int
    #: The place has no time of the outcome.
    never_late: bool
    #: Absence blames only when it was read within this long of the deadline.
    closing_ms: int
    #: How long failing reads are tried again after the deadline (or the submission, when that is later).
    grace_ms: int


@dataclass(frozen=True)
class Times:
    """The times of a claim that its verdict depends on."""

    claimed_at: int
    deadline_at: int
    submitted_at: int
    #: Whether it was submitted just after the deed, as intake found. Rules of version 1 do not use it.
    fresh: bool = False
    #: Why it is fresh, or is not; None in evidence of version 1.
    fresh_by: Optional[str] = None


@dataclass(frozen=True)
class Decision:
    verdict: str
    reason_code: Optional[str]
    #: The check that the verdict rests on.
    basis: Check
    #: When the outcome appeared, where the evidence shows it.
    appeared: Optional[Interval] = None
    #: Where blame rests on looks alone, by rules from version 2 on: how long the outcome may have been there in time, unseen. Milliseconds.
    largest_gap_ms: Optional[int] = None


def knows_rules(version: object) -> bool:
    return version in VERSIONS


def decide(rules: Rules, claim: Times, checks: Sequence[Check], now: int) -> Optional[Decision]:
    """The verdict, or None while it is open.

    ``checks`` is every check so far, oldest first; ``now`` is not before the last one: it only ends the waiting, it never counts as evidence.
    """
    return VERSIONS[rules.version](rules, claim, checks, now).decision() if checks else None


def could_be_fresh(rules: Rules, claim: Times) -> bool:
    """Whether its times alone leave it fresh, by rules of version 2."""
    return -_LARGEST_AHEAD_MS <= claim.submitted_at - claim.claimed_at <= rules.fresh_ms


def could_be_fresh_by(rules: Rules, claim: Times) -> bool:
    """Whether its times leave it the reason that intake found. Two of the reasons need more than the times: a clock that measured, and a key whose
    clock was ahead."""
    if could_be_fresh(rules, claim):
        return claim.fresh_by != "claimed_ahead"
    is_ahead = claim.claimed_at - claim.submitted_at > _LARGEST_AHEAD_MS
    return claim.fresh_by == ("claimed_ahead" if is_ahead else "too_old")


class _Rules1:
    """Fail toward unverifiable, never toward verified. Blame rests on the place's own log, read back past the window's start, or, where the place
    has no log, on a look just after the submission. Two reads that agree blame, and one never."""

    #: Of two reads of one claim: a clock that jumps by more makes them worthless for absence. Milliseconds.
    largest_jump_ms = 60_000
    #: Before a claim ends undecided, it gets this many looks after its deadline.
    least_looks = 1

    def __init__(self, rules: Rules, claim: Times, checks: Sequence[Check], now: int):
        self.rules = rules
        self.claim = claim
        self.checks = checks
        self.last = checks[-1]
        self.reads = [check for check in checks if isinstance(check, Read)]
        self.in_time_until = claim.claimed_at + rules.tolerance_ms
        since = min(claim.claimed_at, claim.submitted_at)
        window = Window(since, rules.removed_within_ms, self.in_time_until)
        self.account = account_of(self.reads, window, self.is_believed)
        # How old the destination's answers may be, by what it and the profile said so far.
        age_ms = max([rules.age_ms, *(read.age_ms for read in self.reads)])
        closing_start = claim.deadline_at + age_ms
        self.closing_end = closing_start + rules.closing_ms
        # The least number of looks was made after the deadline, with time between them.
        self.was_looked_at_again = self.least_looks == 1 or any(
            check.sent_at >= closing_start and abs(check.sent_at - self.last.sent_at) >= _CONFIRMATION_MS for check in checks
        )
        # Failing reads are tried again until here.
        end = max(closing_start, claim.submitted_at) + rules.grace_ms
        is_asked_to_wait = isinstance(self.last, Failure) and self.last.retry_at > end
        self.is_over = is_asked_to_wait or (now >= end and self.was_looked_at_again)
        self.at_deadline = [read for read in self.reads if read.shown_at >= claim.deadline_at]
        # When the first and the last of the reads that saw the same were sent.
        self.extents: Dict[object, Tuple[int, int]] = {}
        for read in self.reads:
            first, last = self.extents.get(_seen_in(read), (read.sent_at, read.sent_at))
            self.extents[_seen_in(read)] = (min(first, read.sent_at), max(last, read.sent_at))

    def decision(self) -> Optional[Decision]:
        last, account = self.last, self.account
        if isinstance(last, Failure) and last.code in _FINAL_FAILURES:
            return _unverifiable(FAILURE_REASONS[last.code], last)
        candidate = self.placed() if account.shown_by else self.blamed()
        if candidate is not None and (candidate.verdict == "verified" or self.is_confirmed(candidate.basis)):
            return candidate
        if candidate is not None:
            return self.unconfirmed(candidate.basis) if self.is_over else None
        if account.shown_by:
            if not self.at_deadline and not self.is_over:
                return None
            return _unverifiable("claim_ambiguous", account.shown_by, account.interval)
        if self.at_deadline and self.at_deadline[0].sent_at <= self.closing_end:
            return _unverifiable("claim_ambiguous", self.at_deadline[0])
        return self.unread() if self.is_over or (self.at_deadline and self.was_looked_at_again) else None

    def placed(self) -> Optional[Decision]:
        """It is, or was, there as claimed. None where its interval straddles a boundary."""
        interval, basis = self.account.interval, self.account.shown_by
        if interval is None or basis is None:
            return None
        if interval.not_after <= self.in_time_until:
            return Decision("verified", None, basis, interval)
        if self.is_open():
            return None
        # Nothing of it can have come and gone before: the place's own record says so, or the looks do.
        is_recorded = any(map(self.says_since_when, self.reads))
        if not is_recorded and not self.was_looked_for():
            return None
        gap = None if is_recorded else self.largest_gap_ms()
        if interval.not_before >= self.claim.deadline_at:
            return Decision("failed", "not_found", basis, interval, gap)
        is_late = interval.not_before >= self.in_time_until and interval.not_after < self.claim.deadline_at
        if is_late and not self.rules.never_late:
            return Decision("late", "observed_after_tolerance", basis, interval, gap)
        return None

    def is_open(self) -> bool:
        """It may have come in time: a log that can be read and does not list it yet may still say so."""
        return self.account.may_have_been_in_time or self.account.is_unlisted or not self.is_steady()

    def says_since_when(self, read: Read) -> bool:
        """The place's own record says that it was not there before: by its mark, by a log that does not show it, or by a time since when it is."""
        if read.mark == "never_before" or read.stays is None:
            return read.mark == "never_before"
        believed = (stay for stay in read.bounded_stays() if self.is_believed(read, stay))
        return not read.shows_outcome or any(stay.appeared_from > -math.inf for stay in believed)

    def is_believed(self, read: Read, stay: Stay) -> bool:
        """The stay verifies and bounds."""
        return True

    def largest_gap_ms(self) -> Optional[int]:
        """What the receipt says of the room that the looks leave."""
        return None

    def blamed(self) -> Optional[Decision]:
        """Nothing shows it, and the evidence says that it was not there; before a second read confirms it."""
        if isinstance(self.last, Read) and self.last.mark == "final":
            return self.blame(self.last)
        if not self.is_steady():
            return None
        never = [read for read in self.at_deadline if read.mark == "never_before"]
        if never:
            return self.blame(never[-1])
        if any(read.mark == "may_have_been" for read in self.reads):
            return None
        was_looked_for = self.was_looked_for()
        telling = [
            read
            for read in self.at_deadline
            if read.sent_at <= self.closing_end and read.mark != "unsettled" and (was_looked_for or read.stays is not None)
        ]
        basis = next(filter(self.is_confirmed, telling), telling[0] if telling else None)
        if basis is None:
            return None
        return self.blame(basis, self.largest_gap_ms() if basis.stays is None else None)

    def blame(self, read: Read, gap: Optional[int] = None) -> Decision:
        if read.differs is None:
            return Decision("failed", "not_found", read, None, gap)
        is_target = any(self.rules.required.get(field) == "target" for field in read.differs)
        return Decision("mismatch", "target_mismatch" if is_target else "content_mismatch", read, None, gap)

    def was_looked_for(self) -> bool:
        """At a place without a log: it was not shown just after the submission, nor at any later look."""
        is_fresh = self.claim.submitted_at - self.claim.claimed_at <= self.rules.fresh_ms
        return is_fresh and any(map(self.is_prompt, self.reads))

    def is_prompt(self, read: Read) -> bool:
        """It shows the state at the submission or just after it."""
        submitted_at = self.claim.submitted_at
        return read.shown_at >= submitted_at and read.sent_at <= submitted_at + _PROMPT_MS

    def is_steady(self) -> bool:
        """No clock, ours or the destination's, jumped between the reads."""
        dated = [read for read in self.reads if read.dated]
        least = min((read.clock_offset_ms for read in dated), default=0)
        if self.jump_ms() > self.largest_jump_ms:
            return False
        # A cache keeps the date of what it holds.
        return all(read.clock_offset_ms - read.age_ms - least <= self.largest_jump_ms for read in dated)

    def jump_ms(self) -> int:
        """The largest jump of a clock that the reads tell, besides what the size of the clocks' difference tells."""
        return 0

    def is_confirmed(self, basis: Check) -> bool:
        """Another read saw the same."""
        first, last = self.extents[_seen_in(basis)]
        return max(basis.sent_at - first, last - basis.sent_at) >= _CONFIRMATION_MS

    def unconfirmed(self, basis: Check) -> Decision:
        is_contradicted = any(abs(read.sent_at - basis.sent_at) >= _CONFIRMATION_MS for read in self.reads)
        return _unverifiable("claim_ambiguous", basis) if is_contradicted else self.unread()

    def unread(self) -> Decision:
        """No read tells how it stood at the deadline."""
        if self.claim.submitted_at > self.closing_end:
            return _unverifiable("claim_ambiguous", self.last)
        for check in reversed(self.checks):
            if isinstance(check, Failure) and max(check.answered_at, check.retry_at) >= self.claim.deadline_at:
                return _unverifiable(FAILURE_REASONS[check.code], check)
        return _unverifiable("verifier_error", self.last)


#: By their number. A version that has signed receipts never changes, and never goes.
class _Rules2(_Rules1):
    """As version 1, and: what the looks saw outweighs a stay that a log tells afterwards; without a log, blame needs looks so close together that
    the receipt can say how long the outcome may have been there between two; and a fresh claim is one that intake found fresh."""

    largest_jump_ms = 10_000
    least_looks = 2

    def __init__(self, rules: Rules, claim: Times, checks: Sequence[Check], now: int):
        reads = [check for check in checks if isinstance(check, Read)]
        self._sent, self._absent_at = _agreed_absences(reads)
        super().__init__(rules, claim, checks, now)

    def is_believed(self, read: Read, stay: Stay) -> bool:
        """It does not begin after the answer that tells of it, and, where it goes on, looks before that answer do not contradict it."""
        if stay.appeared_from > read.answered_at:
            return False
        if stay.removed_from < math.inf:
            return True
        before = bisect_right(self._sent, read.answered_at)
        return before == 0 or stay.appeared_until + _LAG_MS > self._absent_at[before - 1]

    def was_looked_for(self) -> bool:
        # What intake found, and the times do not contradict.
        is_fresh = self.claim.fresh and could_be_fresh(self.rules, self.claim)
        return is_fresh and any(map(self.is_prompt, self.reads)) and self.largest_gap_ms() <= _LARGEST_GAP_MS

    def largest_gap_ms(self) -> int:
        """The longest time in which the outcome can have been there, from the claim to the end of the tolerance, without a read that showed it: from
        the moment that the answer of one look is at least as new as, to the answer of the next."""
        since, largest = min(self.claim.claimed_at, self.claim.submitted_at), 0
        for read in self.reads:
            if read.shows_outcome or read.mark == "unsettled" or read.shown_at < since:
                continue
            largest = max(largest, min(read.answered_at, self.in_time_until) - since)
            since = min(read.shown_at, self.in_time_until)
        return max(largest, self.in_time_until - since)


    def jump_ms(self) -> int:
        """Of our clock against a monotonic one, or of either, where the destination's was ahead of ours for certain at one read, and behind it at
        another. A cache keeps the date of what it holds, which makes a clock seem behind."""
        most_ahead = max((read.clock_ahead_ms or 0 for read in self.reads), default=0)
        most_behind = max((-(read.clock_ahead_ms or 0) - read.age_ms for read in self.reads), default=0)
        turned = most_ahead + most_behind if most_ahead > 0 and most_behind > 0 else 0
        return max([turned, *(read.clock_set_ms for read in self.reads)])


def _agreed_absences(reads: Sequence[Read]) -> Tuple[List[int], List[Instant]]:
    """When reads that did not show the outcome were sent, in this order; and, for each, the latest moment from which on two of those sent by then
    did not show it, and agreed. Of two reads the older answer counts. Documents may be hostile, so that no pairs are made."""
    without = [read for read in reads if not read.shows_outcome and read.mark != "unsettled"]
    without.sort(key=lambda read: read.sent_at)
    #: By what was seen: the reads, how many of them are apart from the last, and the newest answer of those.
    agreeing: Dict[object, Tuple[List[Read], int, Instant]] = {}
    latest: Instant = -math.inf
    absent_at: List[Instant] = []
    for read in without:
        group, apart, shown_at = agreeing.get(_seen_in(read), ([], 0, -math.inf))
        group.append(read)
        while read.sent_at - group[apart].sent_at >= _CONFIRMATION_MS:
            shown_at = max(shown_at, group[apart].shown_at)
            apart += 1
        agreeing[_seen_in(read)] = group, apart, shown_at
        latest = max(latest, min(shown_at, read.shown_at))
        absent_at.append(latest)
    return [read.sent_at for read in without], absent_at


VERSIONS = {1: _Rules1, 2: _Rules2}


def _unverifiable(reason_code: str, basis: Check, appeared: Optional[Interval] = None) -> Decision:
    return Decision("unverifiable", reason_code, basis, appeared)


def _seen_in(read: Read) -> Optional[str]:
    """What the read saw: None where it saw nothing, and otherwise the fields that differ."""
    return None if read.differs is None else " ".join(sorted(read.differs))
