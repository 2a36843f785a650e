// Test run: slow
/** The plugin passes the conformance kit at calendars of its tests. */
import type { JsonObject } from '@claimcheck/core/plugin'
import { type Destination, type GivenConnection, verifierConformance } from '@claimcheck/core/testkit'
import calendar from '@claimcheck/plugin-calendar'
import t from 'tap'
import {
  Calendars,
  DAV_CALENDAR,
  DAV_HOST,
  DAV_PATH,
  GOOGLE_CALENDAR,
  GOOGLE_ID,
  GOOGLE_OPTIONS,
  iCalendar,
  PASSWORD,
  startTokens,
} from './calendars.ts'

t.setTimeout(500_000)

/** The moment at which the events were made, some time before the kit begins. */
const MADE = Math.floor(Date.now() / 1000) * 1000 - 60_000
const UID = '5f0c9b1e-2c1c-4c0a-9d5b-7b6c1f3a2d10'
const ID = '4q8kd5m7f3m0v8v1h2j3k4l5m6'
const GOOGLE_UID = `${ID}@google.com`
const START = '2026-12-01T10:00:00+01:00'
const END = '2026-12-01T11:00:00+01:00'
const FOUND = { starts: '2026-12-01T09:00:00.000Z', ends: '2026-12-01T10:00:00.000Z', all_day: false }

const LINES = {
  UID,
  DTSTART: ';TZID=Europe/Berlin:20261201T100000',
  DTEND: ';TZID=Europe/Berlin:20261201T110000',
}
const EVENT = {
  id: ID,
  iCalUID: GOOGLE_UID,
  status: 'confirmed',
  created: new Date(MADE).toISOString(),
  updated: new Date(MADE + 412).toISOString(),
  start: { dateTime: START, timeZone: 'Europe/Berlin' },
  end: { dateTime: END, timeZone: 'Europe/Berlin' },
  organizer: { email: GOOGLE_ID, self: true },
  summary: 'Board meeting',
}

const object = (lines: Readonly<Record<string, string>>) => ({
  'a1.ics': iCalendar({ ...LINES, ...lines }),
})

const SITUATIONS = {
  missing: () => {},
  made: (at) => {
    at.objects = object({})
    at.google = [EVENT]
  },
  cancelled: (at) => {
    at.objects = object({ STATUS: 'CANCELLED' })
    at.google = [{ ...EVENT, status: 'cancelled' }]
  },
  hidden: (at) => {
    at.owner = '/principals/bob/'
    at.role = 'freeBusyReader'
  },
} as const satisfies Record<string, (at: Calendars) => void>
type Situation = keyof typeof SITUATIONS

let calendars: Calendars
const destination: Destination<Situation, undefined> = {
  start({ now }) {
    calendars = new Calendars(now)
    return calendars.start()
  },
  set(situation) {
    Object.assign(calendars, { objects: {}, google: [], owner: '/principals/ann/', role: 'reader' })
    SITUATIONS[situation](calendars)
    return undefined
  },
}
const common = { plugin: calendar, destination, before: 'missing' } as const

t.test('CalDAV', async (t) => {
  const connection: GivenConnection = {
    provider: 'caldav',
    options: { base_url: `https://${DAV_HOST}/calendars`, username: 'ann', password: PASSWORD },
    target: DAV_PATH,
  }
  const claim = (params: JsonObject = {}) => ({
    action: 'calendar.event.create',
    target: DAV_CALENDAR,
    params: { uid: UID, ...params },
  })
  const report = await verifierConformance(t, {
    ...common,
    connection,
    cases: [
      {
        name: 'made at the claimed times',
        situation: 'made',
        claim: claim({ start: START, end: END }),
        sees: { kind: 'present', facts: { uid: UID, status: 'confirmed', is_recurring: false, ...FOUND } },
        verdict: 'verified',
      },
      {
        name: 'made at another time',
        situation: 'made',
        claim: claim({ start: '2026-12-01T10:00:00Z' }),
        sees: { kind: 'present', differs: ['start'], facts: FOUND },
        verdict: 'mismatch',
      },
      {
        name: 'cancelled',
        situation: 'cancelled',
        claim: claim(),
        sees: { kind: 'absent', mark: 'may_have_been', facts: { status: 'cancelled' } },
        verdict: 'unverifiable',
      },
      {
        name: 'never made',
        situation: 'missing',
        claim: claim(),
        sees: { kind: 'absent' },
        verdict: 'failed',
      },
      {
        name: "missing in another's calendar",
        situation: 'hidden',
        claim: claim(),
        sees: { error: 'forbidden' },
        verdict: 'unverifiable',
      },
    ],
  })
  t.ok(report.ok)
})

t.test('Google', async (t) => {
  const { pluginOptions, stop } = await startTokens()
  t.teardown(stop)
  const claim = (params: JsonObject) => ({ action: 'calendar.event.create', target: GOOGLE_CALENDAR, params })
  /** Answers 404 that hide nothing: the calendar itself is read beside them. */
  const absentRoutes = [/\/events\/[0-9a-v_]+$/]
  const report = await verifierConformance(t, {
    ...common,
    options: pluginOptions,
    connection: { provider: 'google_calendar', options: GOOGLE_OPTIONS, target: GOOGLE_ID },
    cases: [
      {
        name: 'made at the claimed times',
        situation: 'made',
        claim: claim({ uid: GOOGLE_UID, start: START, end: END }),
        sees: { kind: 'present', facts: { uid: GOOGLE_UID, event_id: ID, organizer_is_calendar: true, ...FOUND } },
        verdict: 'verified',
      },
      {
        name: 'made at another time, and never changed',
        situation: 'made',
        absentRoutes,
        claim: claim({ event_id: ID, start: '2026-12-01' }),
        sees: { kind: 'present', differs: ['start'], mark: 'never_before' },
        verdict: 'mismatch',
      },
      {
        name: 'deleted',
        situation: 'cancelled',
        claim: claim({ uid: GOOGLE_UID }),
        sees: { kind: 'absent', mark: 'may_have_been', facts: { status: 'cancelled' } },
        verdict: 'unverifiable',
      },
      {
        name: 'never made',
        situation: 'missing',
        absentRoutes,
        claim: claim({ event_id: ID }),
        sees: { kind: 'absent' },
        verdict: 'failed',
      },
      {
        name: 'hidden from who sees free and busy times',
        situation: 'hidden',
        claim: claim({ uid: GOOGLE_UID }),
        sees: { error: 'forbidden' },
        verdict: 'unverifiable',
      },
    ],
  })
  t.ok(report.ok)
})
