"""The verdict rules in all their versions: a claim is judged by the version that its profile names."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Dict, Mapping, Optional, Sequence, Tuple

from .appearance import Interval, Window, account_of
from .records import Check, Failure, Read

#: Blame rests on two successful reads at least this far apart, so that one odd answer blames no agent. Milliseconds.
_CONFIRMATION_MS = 2000

#: A look this soon after the submission of a fresh claim leaves no room for an outcome that came and went before it. Milliseconds.
_PROMPT_MS = 5000

#: Of two reads of one claim: a clock that jumps by more makes them worthless for absence. Milliseconds.
_LARGEST_JUMP_MS = 60_000

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


@dataclass(frozen=True)
class Decision:
    verdict: str
    reason_code: Optional[str]
    #: The check that the verdict rests on.
    basis: Check
    #: When the outcome appeared, where the evidence shows it.
    appeared: Optional[Interval] = None


def knows_rules(version: object) -> bool:
    return version in VERSIONS


def decide(rules: Rules, claim: Times, checks: Sequence[Check], now: int) -> Optional[Decision]:
    """The verdict, or None while it is open.

    ``checks`` is every check so far, oldest first; ``now`` is not before the last one: it only ends the waiting, it never counts as evidence.
    """
    return VERSIONS[rules.version](rules, claim, checks, now).decision() if checks else None


class _Rules1:
    """Fail toward unverifiable, never toward verified. Blame rests on the place's own log, read back past the window's start, or, where the place
    has no log, on a look just after the submission. Two reads that agree blame, and one never."""

    def __init__(self, rules: Rules, claim: Times, checks: Sequence[Check], now: int):
        self.rules = rules
        self.claim = claim
        self.checks = checks
        self.last = checks[-1]
        self.reads = [check for check in checks if isinstance(check, Read)]
        self.in_time_until = claim.claimed_at + rules.tolerance_ms
        since = min(claim.claimed_at, claim.submitted_at)
        self.account = account_of(self.reads, Window(since, rules.removed_within_ms, self.in_time_until))
        # How old the destination's answers may be, by what it and the profile said so far.
        age_ms = max([rules.age_ms, *(read.age_ms for read in self.reads)])
        self.closing_end = claim.deadline_at + age_ms + rules.closing_ms
        # Failing reads are tried again until here.
        end = max(claim.deadline_at + age_ms, claim.submitted_at) + rules.grace_ms
        self.is_over = now >= end or (isinstance(self.last, Failure) and self.last.retry_at > end)
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
        if self.at_deadline:
            first = self.at_deadline[0]
            return _unverifiable("claim_ambiguous", first) if first.sent_at <= self.closing_end else self.unread()
        return self.unread() if self.is_over else None

    def placed(self) -> Optional[Decision]:
        """It is, or was, there as claimed. None where its interval straddles a boundary."""
        interval, basis = self.account.interval, self.account.shown_by
        if interval is None or basis is None:
            return None
        if interval.not_after <= self.in_time_until:
            return Decision("verified", None, basis, interval)
        if self.is_open():
            return None
        if interval.not_before >= self.claim.deadline_at:
            return Decision("failed", "not_found", basis, interval)
        is_late = interval.not_before >= self.in_time_until and interval.not_after < self.claim.deadline_at
        if is_late and not self.rules.never_late:
            return Decision("late", "observed_after_tolerance", basis, interval)
        return None

    def is_open(self) -> bool:
        """It may have come in time: a log that can be read and does not list it yet may still say so."""
        account = self.account
        return account.may_have_been_in_time or account.is_unlisted or not self.is_steady() or not self.is_followed()

    def is_followed(self) -> bool:
        """Nothing of it can have come and gone before the first look: the place's own record says so, or the look came at once."""
        return self.was_looked_for() or any(map(_says_since_when, self.reads))

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
        return self.blame(basis) if basis else None

    def blame(self, read: Read) -> Decision:
        if read.differs is None:
            return Decision("failed", "not_found", read)
        is_target = any(self.rules.required.get(field) == "target" for field in read.differs)
        return Decision("mismatch", "target_mismatch" if is_target else "content_mismatch", read)

    def was_looked_for(self) -> bool:
        """At a place without a log: it was not shown just after the submission, nor at any later look."""
        submitted_at = self.claim.submitted_at
        return submitted_at - self.claim.claimed_at <= self.rules.fresh_ms and any(
            read.shown_at >= submitted_at and read.sent_at <= submitted_at + _PROMPT_MS for read in self.reads
        )

    def is_steady(self) -> bool:
        """No clock, ours or the destination's, jumped between the reads."""
        dated = [read for read in self.reads if read.dated]
        least = min((read.clock_offset_ms for read in dated), default=0)
        # A cache keeps the date of what it holds.
        return all(read.clock_offset_ms - read.age_ms - least <= _LARGEST_JUMP_MS for read in dated)

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
    """Rules of version 2."""


VERSIONS = {1: _Rules1, 2: _Rules2}


def _unverifiable(reason_code: str, basis: Check, appeared: Optional[Interval] = None) -> Decision:
    return Decision("unverifiable", reason_code, basis, appeared)


def _says_since_when(read: Read) -> bool:
    """By name, by a log that does not show it, or by a time since when it is there."""
    if read.mark == "never_before" or read.stays is None:
        return read.mark == "never_before"
    return not read.shows_outcome or any(stay.appeared_from > -math.inf for stay in read.stays)


def _seen_in(read: Read) -> Optional[str]:
    """What the read saw: None where it saw nothing, and otherwise the fields that differ."""
    return None if read.differs is None else " ".join(sorted(read.differs))
