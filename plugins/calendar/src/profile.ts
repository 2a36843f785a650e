/** The profile of the action `calendar.event.create`. */
import { type ActionProfile, type Static, Type } from '@claimcheck/core/plugin'

const MINUTE_MS = 60_000

/** The UID of an event. Those with letters that iCalendar escapes cannot be searched for by one text at all servers. */
const UID = '^[!-+./0-:<-\\[\\]-~-]+$'
const LONGEST_UID = 255
const UID_FORM = new RegExp(UID)

export function isUid(text: string): boolean {
  return text.length <= LONGEST_UID && UID_FORM.test(text)
}

const EVENT_ID = '^[0-9A-Za-z_]+$'
const LONGEST_EVENT_ID = 1024
/** A day, or a time with its offset from UTC. */
const TIME =
  '^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]+)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2}))?$'
/** A day, a time of UTC, or a time without a zone. */
const FOUND_TIME = '^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]{3}Z)?)?$'
const LONGEST_TIME = 40

const HOST = '(?:[0-9A-Za-z.-]+|\\[[0-9A-Fa-f:]+\\])(?::[0-9]+)?'
/** A character of a path, or an escape of one that is neither a dot nor a slash. */
const LETTER = "(?:[0-9A-Za-z_~!$&'()*+,;=:@-]|%(?:2[0-9A-Da-d]|[013-9A-Fa-f][0-9A-Fa-f]))"
const SEGMENT = `/${LETTER}(?:${LETTER}|\\.)*`
const TARGETS = [`caldav:${HOST}(?:${SEGMENT})+/?`, 'google:[0-9A-Za-z._%+#=-]+@[0-9A-Za-z.-]+']

const time = (title: string, description: string, example: string) =>
  Type.Optional(
    Type.String({
      title,
      pattern: TIME,
      maxLength: LONGEST_TIME,
      'x-pattern-help': 'enter a time with its offset, `2026-12-01T10:00:00+01:00`, or a day, `2026-12-01`',
      description,
      examples: [example],
    }),
  )

const Params = Type.Object(
  {
    uid: Type.Optional(
      Type.String({
        title: 'UID',
        pattern: UID,
        maxLength: LONGEST_UID,
        'x-pattern-help': 'enter the UID of the event, without spaces, commas, semicolons and backslashes',
        description: "The event's UID in iCalendar: Google's `iCalUID`. CalDAV needs it.",
        examples: ['4q8kd5m7f3m0v8v1h2j3k4l5m6@google.com'],
      }),
    ),
    event_id: Type.Optional(
      Type.String({
        title: 'Event id',
        pattern: EVENT_ID,
        maxLength: LONGEST_EVENT_ID,
        'x-pattern-help': "enter the event's `id` as Google's API returned it",
        description: "The event's `id` at Google, in place of the UID or beside it. Not for CalDAV.",
        examples: ['4q8kd5m7f3m0v8v1h2j3k4l5m6'],
      }),
    ),
    start: time(
      'Start',
      'The start of the event, or of the first in a series. A day means an event of whole days.',
      '2026-12-01T10:00:00+01:00',
    ),
    end: time(
      'End',
      'The end of the event, or of the first in a series. For whole days it is the day after the last.',
      '2026-12-01T11:00:00+01:00',
    ),
  },
  { additionalProperties: false },
)

const flag = (title: string, description: string) => Type.Optional(Type.Boolean({ title, description }))
const found = (title: string, description: string) =>
  Type.Optional(Type.String({ title, pattern: FOUND_TIME, maxLength: LONGEST_TIME, description }))

const Facts = Type.Object(
  {
    uid: Type.Optional(
      Type.String({ title: 'UID', pattern: UID, maxLength: LONGEST_UID, description: "The event's UID." }),
    ),
    event_id: Type.Optional(
      Type.String({
        title: 'Event id',
        pattern: EVENT_ID,
        maxLength: LONGEST_EVENT_ID,
        description: "The event's id at Google.",
      }),
    ),
    starts: found('Start found', 'Its start: a time of UTC, a day, or a time without a zone.'),
    ends: found('End found', 'Its end, in the same form.'),
    all_day: flag('Whole days', 'Whether it is of whole days.'),
    status: Type.Optional(
      Type.Enum(['confirmed', 'tentative', 'cancelled'], { title: 'State', description: 'The state of the event.' }),
    ),
    is_recurring: flag('Series', 'Whether it is a series, or one event of a series.'),
    created: Type.Optional(
      Type.String({
        title: 'Created',
        format: 'date-time',
        description: 'The time at which Google says that it was created.',
      }),
    ),
    organizer_is_calendar: flag(
      "Organizer's copy",
      "Whether this calendar is the event's organizer, and not invited to it.",
    ),
  },
  { additionalProperties: false },
)

export type Params = Static<typeof Params>
export type Facts = Static<typeof Facts>

export const profile: ActionProfile<typeof Params, typeof Facts> = {
  action: 'calendar.event.create',
  version: '1',
  rulesVersion: 2,
  summary: 'An event was put into a calendar.',
  words: {
    title: 'Calendar event',
    target: 'Calendar',
    claim: [
      'Event {uid} was put into {target}, from {start} to {end}.',
      'Event {event_id} was put into {target}, from {start} to {end}.',
      'Event {uid} was put into {target}, with its start at {start}.',
      'Event {event_id} was put into {target}, with its start at {start}.',
      'Event {uid} was put into {target}, with its end at {end}.',
      'Event {event_id} was put into {target}, with its end at {end}.',
      'Event {uid} was put into {target}.',
      'Event {event_id} was put into {target}.',
    ],
    outcomes: {
      verified: 'The event was in {target} in time, as claimed.',
      late: 'The event was in {target} as claimed, and too late.',
      mismatch: 'The event in {target} is not as the claim says.',
      failed: 'The event was not in {target} by the deadline.',
    },
    facts: {
      starts: 'It starts at {starts}.',
      ends: 'It ends at {ends}.',
      all_day: { true: 'It is of whole days.' },
      status: {
        tentative: 'It is tentative.',
        cancelled: 'It was cancelled or deleted.',
      },
      is_recurring: { true: 'It is a series, or one event of a series.' },
      created: 'Google says that it was created at {created}.',
      organizer_is_calendar: { false: 'The calendar was invited to it: somebody else is its organizer.' },
    },
    found: { start: 'starts', end: 'ends' },
  },
  target: Type.String({
    pattern: `^(?:${TARGETS.join('|')})$`,
    maxLength: 500,
    'x-pattern-help':
      'write `caldav:`, the host and the path of the calendar, `caldav:dav.example.com/calendars/ann/work`, or `google:` and the id of the calendar, `google:team@group.calendar.google.com`',
    description:
      "The calendar: the host of a CalDAV server and the calendar's path, or the id of a calendar at Google, which has an @ in it.",
    examples: ['google:team@group.calendar.google.com'],
  }),
  params: Params,
  facts: Facts,
  required: { uid: 'target', event_id: 'target', start: 'content', end: 'content' },
  shows: { status: ['confirmed', 'tentative'] },
  compared: {
    target: 'none',
    uid: { fact: 'uid', as: 'exact' },
    event_id: { fact: 'event_id', as: 'exact' },
    start: { fact: 'starts', as: 'exact' },
    end: { fact: 'ends', as: 'exact' },
  },
  past: ['created'],
  toleranceMs: 10 * MINUTE_MS,
  deadlineMs: 30 * MINUTE_MS,
  maxDeadlineMs: 24 * 60 * MINUTE_MS,
  access: {
    permission:
      'Reading the events of the calendar: at CalDAV an account that can read it, at Google the scope calendar.events.readonly.',
    anonymous: false,
  },
}
