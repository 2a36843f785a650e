/** Claims about the times of events on CalDAV servers: zones, days, durations, clock changes, and times that are no instants. */
import { calendarOf, eventOf, inZone, objectOf, zoneOf } from './icalendar.ts'
import { claimOf, OTHER, OTHER_UNTOLD, type Row, rowsOf, TRUE, TRUE_MAYBE, UNKNOWABLE, written } from './row.ts'

const row = rowsOf('caldav')
type Times = readonly string[]

/** An event with these lines of its times, and the definitions of zones. */
const at = (times: Times, ...zones: readonly string[]) => ({
  caldav: { diary: written(calendarOf(...zones, eventOf({ times }))) },
})
const claimed = (start: string, end?: string) => claimOf({ start, end })
const BERLIN = inZone('Europe/Berlin', '20260316T150000', '20260316T153000')
const DAYS: Times = ['DTSTART;VALUE=DATE:20260316', 'DTEND;VALUE=DATE:20260317']
const FLOATING: Times = ['DTSTART:20260316T140000', 'DTEND:20260316T143000']

/** Zones, times in them, and the instants that they are. */
const ZONES: readonly (readonly [zone: string, start: string, end: string])[] = [
  ['America/New_York', '20260316T100000', '20260316T103000'],
  ['Asia/Kolkata', '20260316T193000', '20260316T200000'],
  ['Asia/Calcutta', '20260316T193000', '20260316T200000'],
  ['US/Eastern', '20260316T100000', '20260316T103000'],
  ['Asia/Kathmandu', '20260316T194500', '20260316T201500'],
  ['Pacific/Auckland', '20260317T030000', '20260317T033000'],
  ['Etc/UTC', '20260316T140000', '20260316T143000'],
  ['UTC', '20260316T140000', '20260316T143000'],
]

const SAME: readonly Row[] = [
  row(TRUE, 'claimed with an offset', 'it is the same instant', () => ({
    ...at(['DTSTART:20260316T140000Z', 'DTEND:20260316T143000Z']),
    params: claimed('2026-03-16T15:00:00+01:00', '2026-03-16T10:30:00-04:00'),
  })),
  row(TRUE, 'claimed with thousandths', 'it is the same instant', () => ({
    ...at(['DTSTART:20260316T140000Z', 'DTEND:20260316T143000Z']),
    params: claimed('2026-03-16T14:00:00.000Z', '2026-03-16T14:30:00.000Z'),
  })),
  row(TRUE, 'in a zone that is defined', 'RFC 5545 3.6.5', () => ({
    ...at(BERLIN, zoneOf('Europe/Berlin')),
    params: claimOf(),
  })),
  ...ZONES.map(([zone, start, end]) =>
    row(
      TRUE,
      `in the zone ${zone}, without a definition`,
      'RFC 7809 3.1: names of the time zone database need none',
      () => ({
        ...at(inZone(zone, start, end)),
        params: claimOf(),
      }),
    ),
  ),
  row(TRUE, 'in a zone with quotes', 'RFC 5545 3.2: a parameter may be in quotes', () => ({
    ...at(inZone('"Europe/Berlin"', '20260316T150000', '20260316T153000'), zoneOf('Europe/Berlin')),
    params: claimOf(),
  })),
  ...[
    'W. Europe Standard Time',
    '/freeassociation.sourceforge.net/Europe/Berlin',
    '/mozilla.org/20050126_1/Europe/Berlin',
  ].map((zone) =>
    row(
      TRUE_MAYBE,
      `in the zone ${zone}, which is defined`,
      'its definition tells the instant, though not its name',
      () => ({
        ...at(inZone(zone, '20260316T150000', '20260316T153000'), zoneOf(zone)),
        params: claimOf(),
      }),
    ),
  ),
  row(
    TRUE_MAYBE,
    'in a zone whose definition contradicts its name',
    'calendars go by the name of the database',
    () => ({
      ...at(BERLIN, zoneOf('Europe/Berlin', '-0800')),
      params: claimOf(),
    }),
  ),
  row(TRUE, 'a flight between two zones', 'start and end have a zone each', () => ({
    ...at(['DTSTART;TZID=Europe/Berlin:20260316T150000', 'DTEND;TZID=America/New_York:20260316T180000']),
    params: claimed('2026-03-16T14:00:00Z', '2026-03-16T22:00:00Z'),
  })),
  row(TRUE, 'in summer time', 'Berlin is two hours ahead in July', () => ({
    ...at(inZone('Europe/Berlin', '20260706T150000', '20260706T153000'), zoneOf('Europe/Berlin')),
    params: claimed('2026-07-06T13:00:00Z', '2026-07-06T13:30:00Z'),
  })),
  row(TRUE, 'through the change to summer time', 'two hours on the clock are one', () => ({
    ...at(inZone('Europe/Berlin', '20260329T013000', '20260329T033000'), zoneOf('Europe/Berlin')),
    params: claimed('2026-03-29T00:30:00Z', '2026-03-29T01:30:00Z'),
  })),
  row(
    TRUE_MAYBE,
    'at a time that comes twice, meaning the first',
    'RFC 5545 3.3.5: the first occurrence is meant',
    () => ({
      ...at(inZone('Europe/Berlin', '20261025T023000', '20261025T033000')),
      params: claimed('2026-10-25T00:30:00Z', '2026-10-25T02:30:00Z'),
    }),
  ),
  row(TRUE_MAYBE, 'at a time that the clock skips', 'RFC 5545 3.3.5: the offset before the gap counts', () => ({
    ...at(inZone('Europe/Berlin', '20260329T023000', '20260329T040000')),
    params: claimed('2026-03-29T01:30:00Z', '2026-03-29T02:00:00Z'),
  })),
  ...(
    [
      ['PT30M', '2026-03-16T14:30:00Z'],
      ['P1DT2H', '2026-03-17T16:00:00Z'],
      ['P1W', '2026-03-23T14:00:00Z'],
      ['PT0S', '2026-03-16T14:00:00Z'],
    ] as const
  ).map(([duration, end]) =>
    row(TRUE, `with the duration ${duration}`, 'RFC 5545 3.8.2.5: it stands for an end', () => ({
      ...at(['DTSTART:20260316T140000Z', `DURATION:${duration}`]),
      params: claimed('2026-03-16T14:00:00Z', end),
    })),
  ),
  row(TRUE_MAYBE, 'a day long, through the change to summer time', 'RFC 5545 3.3.6: a day is nominal', () => ({
    ...at(['DTSTART;TZID=Europe/Berlin:20260328T120000', 'DURATION:P1D']),
    params: claimed('2026-03-28T11:00:00Z', '2026-03-29T10:00:00Z'),
  })),
  row(TRUE_MAYBE, '24 hours long, through the change to summer time', 'RFC 5545 3.3.6: hours are exact', () => ({
    ...at(['DTSTART;TZID=Europe/Berlin:20260328T120000', 'DURATION:PT24H']),
    params: claimed('2026-03-28T11:00:00Z', '2026-03-29T11:00:00Z'),
  })),
  row(TRUE_MAYBE, 'without an end', 'RFC 5545 3.6.1: it ends as it starts', () => ({
    ...at(['DTSTART:20260316T140000Z']),
    params: claimed('2026-03-16T14:00:00Z', '2026-03-16T14:00:00Z'),
  })),
  row(TRUE, 'a day', 'a date is a date', () => ({
    ...at(DAYS),
    params: claimed('2026-03-16', '2026-03-17'),
    facts: { all_day: true },
  })),
  row(TRUE, 'a day without an end', 'RFC 5545 3.6.1: it lasts one day', () => ({
    ...at([DAYS[0]!]),
    params: claimed('2026-03-16', '2026-03-17'),
  })),
  row(TRUE, 'two days by their duration', 'RFC 5545 3.8.2.5: a date takes days', () => ({
    ...at([DAYS[0]!, 'DURATION:P2D']),
    params: claimed('2026-03-16', '2026-03-18'),
  })),
  row(TRUE, 'floating, by its UID alone', 'the claim says nothing of times', () => ({
    ...at(FLOATING),
    params: claimOf({ start: undefined, end: undefined }),
  })),
  row(TRUE, 'in an unknown zone, by its UID alone', 'the claim says nothing of times', () => ({
    ...at(inZone('Nowhere/Land', '20260316T140000', '20260316T143000')),
    params: claimOf({ start: undefined, end: undefined }),
  })),
]

const DIFFERENT: readonly Row[] = [
  ...(
    [
      ['at another start', ['DTSTART:20260316T133000Z', 'DTEND:20260316T143000Z']],
      ['at another end', ['DTSTART:20260316T140000Z', 'DTEND:20260316T150000Z']],
      ['on another day', ['DTSTART:20260317T140000Z', 'DTEND:20260317T143000Z']],
      ['a minute late', ['DTSTART:20260316T140100Z', 'DTEND:20260316T143000Z']],
      ['of another duration', ['DTSTART:20260316T140000Z', 'DURATION:PT45M']],
      ['in a zone, whose times were claimed as UTC', inZone('Europe/Berlin', '20260316T140000', '20260316T143000')],
    ] as const
  ).map(([title, times]) =>
    row(OTHER, title, 'it is not at the claimed times, from the first look on', () => ({
      ...at(times, zoneOf('Europe/Berlin')),
      params: claimOf(),
    })),
  ),
  row(OTHER, 'an hour off, as summer time was forgotten', 'Berlin is two hours ahead in July', () => ({
    ...at(inZone('Europe/Berlin', '20260706T150000', '20260706T153000'), zoneOf('Europe/Berlin')),
    params: claimed('2026-07-06T14:00:00Z', '2026-07-06T14:30:00Z'),
  })),
  row(OTHER, 'claimed at the beginning of its zone', 'DTSTART of a zone is not that of the event', () => ({
    ...at(BERLIN, zoneOf('Europe/Berlin')),
    params: claimed('1981-03-29T02:00:00Z'),
  })),
  row(OTHER, 'on the day after', 'a date is a date', () => ({
    ...at(DAYS),
    params: claimed('2026-03-17', '2026-03-18'),
  })),
  row(OTHER_UNTOLD, 'a day, claimed with its last day as the end', 'RFC 5545 3.6.1: DTEND is exclusive', () => ({
    ...at(DAYS),
    params: claimed('2026-03-16', '2026-03-16'),
  })),
  row(OTHER_UNTOLD, 'a day, claimed from midnight to midnight', 'a day is no two instants', () => ({
    ...at(DAYS),
    params: claimed('2026-03-16T00:00:00Z', '2026-03-17T00:00:00Z'),
  })),
  row(OTHER_UNTOLD, 'from midnight to midnight, claimed as a day', 'two instants are no day', () => ({
    ...at(['DTSTART:20260316T000000Z', 'DTEND:20260317T000000Z']),
    params: claimed('2026-03-16', '2026-03-17'),
  })),
  row(
    OTHER_UNTOLD,
    'floating, claimed as UTC',
    'RFC 5545 3.3.5: a floating time is another instant everywhere',
    () => ({
      ...at(FLOATING),
      params: claimOf(),
    }),
  ),
  row(OTHER_UNTOLD, 'floating, claimed as a day', 'a floating time is no day', () => ({
    ...at(FLOATING),
    params: claimed('2026-03-16', '2026-03-17'),
  })),
  row(OTHER_UNTOLD, 'at a time that comes twice, claimed as the second', 'RFC 5545 3.3.5: the first is meant', () => ({
    ...at(inZone('Europe/Berlin', '20261025T023000', '20261025T033000')),
    params: claimed('2026-10-25T01:30:00Z', '2026-10-25T02:30:00Z'),
  })),
  row(
    OTHER_UNTOLD,
    'claimed by a definition that contradicts the name of its zone',
    'its author wrote the definition',
    () => ({
      ...at(BERLIN, zoneOf('Europe/Berlin', '-0800')),
      params: claimed('2026-03-16T23:00:00Z', '2026-03-16T23:30:00Z'),
    }),
  ),
  row(UNKNOWABLE, 'in a zone that nobody defines', 'no rule makes it an instant', () => ({
    ...at(inZone('Nowhere/Land', '20260316T140000', '20260316T143000')),
    params: claimOf(),
  })),
  row(UNKNOWABLE, 'in a zone with the name of an office', 'no rule makes it an instant', () => ({
    ...at(inZone('Berlin Office', '20260316T150000', '20260316T153000')),
    params: claimOf(),
  })),
  row(OTHER, 'a series, claimed at the time of no instance', 'it never takes place then', () => ({
    caldav: { diary: written(objectOf({ lines: ['RRULE:FREQ=WEEKLY;COUNT=6'] })) },
    params: claimed('2026-03-18T14:00:00Z', '2026-03-18T14:30:00Z'),
  })),
  row(OTHER_UNTOLD, 'a series, claimed at its second instance', 'the event starts with the first', () => ({
    caldav: { diary: written(objectOf({ lines: ['RRULE:FREQ=WEEKLY;COUNT=6'] })) },
    params: claimed('2026-03-23T14:00:00Z', '2026-03-23T14:30:00Z'),
  })),
  row(
    OTHER_UNTOLD,
    'a series, claimed at the time of an exception',
    'RECURRENCE-ID: one instance is at another time',
    () => ({
      caldav: {
        diary: written(
          calendarOf(
            eventOf({
              times: ['DTSTART:20260302T090000Z', 'DTEND:20260302T093000Z'],
              lines: ['RRULE:FREQ=WEEKLY;COUNT=6'],
            }),
            eventOf({ lines: ['RECURRENCE-ID:20260316T090000Z'] }),
          ),
        ),
      },
      params: claimOf(),
    }),
  ),
]

export const CALDAV_TIMES: readonly Row[] = [...SAME, ...DIFFERENT]
