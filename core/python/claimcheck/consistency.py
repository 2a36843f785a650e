"""Whether a read agrees with itself, with its claim, and with what its profile says that facts show."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Iterator, Mapping, Optional, Sequence, Tuple

from .canonical import canonicalize
from .comparators import is_same_by
from .records import Read, Stay
from .times import parse_instant

#: No answer is taken for older. Milliseconds.
_MAX_AGE_MS = 24 * 60 * 60_000
#: From sending to answer: twice what a host allows. Milliseconds.
_LONGEST_CHECK_MS = 120_000
#: The machines of one place do not agree to the second, and a log may have whole seconds. Milliseconds.
_CLOCKS_MS = 2000
#: How far a clock may be off that nothing bounds. Milliseconds.
_UNDATED_MS = 24 * 60 * 60_000
_MOST_STAYS = 8
#: Reads before then may be of hosts that did not count answers yet: 2026-11-29T02:00:00.000Z.
_COUNTED_SINCE = 1_795_917_600_000


@dataclass(frozen=True)
class Expected:
    """The part of a profile to which reads are held."""

    required: Mapping[str, str]
    shows: Mapping[str, Any] = field(default_factory=dict)
    #: None where the profile does not say how facts are compared.
    compared: Optional[Mapping[str, Any]] = None
    past: Sequence[str] = ()
    #: As in its words: compared exactly where the profile has no ``compared``.
    found: Mapping[str, str] = field(default_factory=dict)


#: A member that is not there, which is another thing than one that is null.
_NOTHING = object()


def contradiction_of(
    read: Read,
    claim: Mapping[str, Any],
    expected: Optional[Expected],
    rules_version: int,
    facts: Optional[Mapping[str, Any]],
) -> Optional[str]:
    """What contradicts itself, by its name in evidence or in the body of a receipt; None where nothing does.

    ``expected`` is None where the reader does not know the profile, ``facts`` where evidence leaves them out.
    """
    if rules_version == 1:
        return None if expected is None or facts is None else _by_rules_1(read, claim, expected, facts)
    return _limit_problem(read) or (None if expected is None else _facts_problem(read, claim, expected, facts))


def _by_rules_1(read: Read, claim: Mapping[str, Any], expected: Expected, facts: Mapping[str, Any]) -> Optional[str]:
    """Only reads that show the outcome are held to their facts, where they have them."""
    if not read.shows_outcome:
        return None
    loose = Expected({}, expected.shows, None, (), expected.found)
    agrees = _differs_agree((), claim, loose, facts) and _is_shown(loose, facts)
    return None if agrees else "observation.facts"


def _limit_problem(read: Read) -> Optional[str]:
    """A contradiction within a read, whatever was claimed."""
    if read.answered_at - read.sent_at > _LONGEST_CHECK_MS:
        return "order"
    if read.answered_at >= _COUNTED_SINCE if read.answers is None else read.answers < 1:
        return "answers"
    if read.age_ms > _MAX_AGE_MS:
        return "age_ms"
    if read.clock_ahead_ms is not None and not (read.dated and 0 < abs(read.clock_ahead_ms) <= read.clock_offset_ms):
        return "clock_ahead_ms"
    if read.mark is not None and read.shows_outcome:
        return "mark"
    if read.differs is not None and len(set(read.differs)) < len(read.differs):
        return "differs"
    stays = read.stays or ()
    is_right = len(stays) <= _MOST_STAYS and all(_is_stay(stay, _latest_moment(read)) for stay in stays)
    return None if is_right else "stays"


def _latest_moment(read: Read) -> int:
    """What a read tells of was so by then, by the destination's clock."""
    return read.answered_at + _CLOCKS_MS + (read.clock_offset_ms if read.dated else _UNDATED_MS)


def _is_stay(stay: Stay, latest: int) -> bool:
    is_removed = stay.removed_until != math.inf
    times = [(stay.appeared_from, stay.appeared_until)]
    times += [(stay.removed_from, stay.removed_until)] if is_removed else []
    if any(since > until for since, until in times):
        return False
    if is_removed and _earliest(*times[0]) > stay.removed_until:
        return False
    return all(_earliest(*time) <= latest for time in times)


def _earliest(since: float, until: float) -> float:
    return until - _CLOCKS_MS if since == -math.inf else since


def _facts_problem(
    read: Read, claim: Mapping[str, Any], expected: Expected, facts: Optional[Mapping[str, Any]]
) -> Optional[str]:
    """A contradiction between a read, its claim and its profile."""
    named = read.differs or ()
    # What a claim means by leaving a field out is told by `compared` alone.
    is_said = lambda name: expected.compared is None or _said_of(name, claim, expected) is not None
    if any(name not in expected.required or not is_said(name) for name in named):
        return "differs"
    if facts is None:
        return None
    if not _is_past(expected, facts, _latest_moment(read)):
        return "observation.facts"
    agrees = read.differs is None or _differs_agree(named, claim, expected, facts)
    if read.shows_outcome:
        agrees = agrees and _is_shown(expected, facts)
    else:
        agrees = agrees and not _shows_claimed(read.mark, claim, expected, facts)
    return None if agrees else "observation.facts"


def _said_of(name: str, claim: Mapping[str, Any], expected: Expected) -> Any:
    """What the claim says of a field, or means where it leaves it out; None where it says nothing."""
    if name == "target":
        return claim["target"]
    said = claim["params"].get(name)
    comparison = (expected.compared or {}).get(name)
    return comparison.get("default") if said is None and isinstance(comparison, dict) else said


def _is_past(expected: Expected, facts: Mapping[str, Any], latest: int) -> bool:
    moments = [parse_instant(facts[name]) for name in expected.past if name in facts]
    return all(moment is not None and moment <= latest for moment in moments)


def _is_shown(expected: Expected, facts: Mapping[str, Any]) -> bool:
    """The facts that every read has which shows the outcome."""
    is_loose = expected.compared is None
    return all(
        (is_loose and name not in facts) or _shows(facts.get(name, _NOTHING), shown) for name, shown in expected.shows.items()
    )


def _shows(seen: Any, shown: Any) -> bool:
    if isinstance(shown, dict):
        if "atLeast" in shown:
            return isinstance(seen, (int, float)) and not isinstance(seen, bool) and seen >= shown["atLeast"]
        return seen is _NOTHING or not _is_same(seen, shown["not"])
    values = shown if isinstance(shown, list) else [shown]
    return seen is not _NOTHING and any(_is_same(seen, value) for value in values)


def _differs_agree(
    named: Sequence[str], claim: Mapping[str, Any], expected: Expected, facts: Mapping[str, Any]
) -> bool:
    """The fields that differ, and no others, are something else by their facts."""
    for name, told, tells in _comparisons(claim, expected, facts):
        if name in named:
            if told == "same":
                return False
        elif told == "other" or (told == "nothing" and not named and tells is None):
            return False
    return True


def _shows_claimed(
    mark: Optional[str], claim: Mapping[str, Any], expected: Expected, facts: Mapping[str, Any]
) -> bool:
    """By the facts of a read that may blame, it is as claimed. What a place that forgets does not show, or not yet, blames nobody."""
    if expected.compared is None or mark in ("may_have_been", "unsettled") or not _is_shown(expected, facts):
        return False
    told = [(one, tells) for _, one, tells in _comparisons(claim, expected, facts)]
    is_shown = all(one == "same" or (one == "nothing" and tells == "other") for one, tells in told)
    is_told = bool(expected.shows) or any(one == "same" for one, _ in told)
    return is_shown and is_told


def _comparisons(
    claim: Mapping[str, Any], expected: Expected, facts: Mapping[str, Any]
) -> Iterator[Tuple[str, str, Optional[str]]]:
    """Of the fields that the claim has and a fact can show: what the facts say of them, ``same``, ``other`` or ``nothing``."""
    # Where names are written in several ways, what was found for a target is compared by verifiers alone.
    by_words = {
        name: {"fact": fact, "as": "exact", "tells": "other"} for name, fact in expected.found.items() if name != "target"
    }
    for name, comparison in (by_words if expected.compared is None else expected.compared).items():
        said = _said_of(name, claim, expected)
        if said is not None and comparison != "none":
            yield name, _told_by(comparison, said, facts), comparison.get("tells")


def _told_by(comparison: Mapping[str, Any], said: Any, facts: Mapping[str, Any]) -> str:
    names = comparison["facts"] if "facts" in comparison else [comparison["fact"]]
    if any(name not in facts for name in names):
        return "nothing"
    seen = [facts[name] for name in names]
    if "facts" in comparison:
        is_same = all(_is_same(value, comparison["are"]) for value in seen)
    else:
        is_same = is_same_by(comparison["as"], said, seen[0])
    if is_same:
        return "same"
    return "nothing" if comparison.get("tells") == "same" else "other"


def _is_same(one: Any, other: Any) -> bool:
    # Python takes 1 and True for equal.
    return canonicalize(one) == canonicalize(other)
