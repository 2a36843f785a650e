"""What happens in a workspace, as the service streams it: goes on where a connection broke off."""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass
from typing import Any, Callable, Iterable, Iterator, Mapping, Optional
from urllib.parse import urlencode

from .errors import ApiError, ClaimcheckError, ConnectionFailed, UnexpectedAnswer
from .operations import TEMPORARY, pause_before

#: Seconds before the next connection, where the stream names none.
_USUAL_RETRY = 3.0


@dataclass(frozen=True)
class Event:
    """An event. One of the type ``gap`` tells that those ``from`` one id ``to`` another cannot be sent any more."""

    #: The number of the event. Give the last one that you stored as ``after``.
    id: str
    type: str
    #: None for a gap.
    timestamp: Optional[str]
    data: Mapping[str, Any]


class _Place:
    """Where the last connection left the list of events."""

    def __init__(self, after: Optional[str]):
        self.last = after
        self.retry = _USUAL_RETRY
        self.was_opened = False


#: Opens a stream at a path after an id, and yields its lines.
OpenStream = Callable[[str, Optional[str]], Iterator[str]]


def listen(
    open_stream: OpenStream, after: Optional[str], filters: Mapping[str, Optional[str]], retry_for: float
) -> Iterator[Event]:
    """``retry_for``: for how long the first connection is tried. Later ones are tried for ever."""
    given = {name: value for name, value in filters.items() if value is not None}
    path = "/v1/events" + (f"?{urlencode(given)}" if given else "")
    place = _Place(after)
    started, tried = time.monotonic(), 0
    while True:
        failure: Optional[ClaimcheckError] = None
        place.was_opened = False
        try:
            yield from _events(open_stream(path, place.last), place)
        except ConnectionFailed as error:
            failure = error
        except ApiError as error:
            if error.status not in TEMPORARY:
                raise
            failure = error
        if place.was_opened:
            started, tried, retry_for = time.monotonic(), 0, math.inf
        # A service that stops ends its streams without an error, and says when to come again.
        pause = place.retry if failure is None else pause_before(failure, tried)
        if failure is not None and time.monotonic() - started + pause > retry_for:
            raise failure
        time.sleep(pause)
        tried += 1


def _events(lines: Iterable[str], place: _Place) -> Iterator[Event]:
    """Reads server-sent events. What a stream that breaks off left unfinished is sent again."""
    found: dict = {}
    for line in lines:
        place.was_opened = True
        name, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if line:
            found[name] = f"{found[name]}\n{value}" if name == "data" and "data" in found else value
            continue
        if found.get("retry", "").isdecimal():
            place.retry = int(found["retry"]) / 1000
        if "id" in found:
            place.last = found["id"]
        event = _event(found, place.last or "") if "data" in found else None
        found = {}
        if event is not None:
            yield event


def _event(found: Mapping[str, str], last: str) -> Event:
    try:
        value = json.loads(found["data"])
    except (ValueError, RecursionError):
        value = None
    kind = found.get("event", "")
    data = value if kind == "gap" else value.get("data") if isinstance(value, dict) else None
    if not isinstance(data, dict):
        raise UnexpectedAnswer("the service sent an event that is none")
    return Event(last, kind, None if kind == "gap" else value.get("timestamp"), data)
