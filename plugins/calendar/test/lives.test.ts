/** The verdicts about events that are moved, changed, deleted, repeated or hidden, over the life of a claim. */
import type { JsonObject } from '@claimcheck/core/plugin'
import { createVirtualClock, liveClaim } from '@claimcheck/core/testkit'
import calendar from '@claimcheck/plugin-calendar'
import t, { type Test } from 'tap'
import {
  Calendars,
  DAV_CALENDAR,
  DAV_HOST,
  GOOGLE_CALENDAR,
  GOOGLE_ID,
  GOOGLE_OPTIONS,
  iCalendar,
  PASSWORD,
  startTokens,
} from './calendars.ts'

const NOW = Date.UTC(2026, 10, 2, 9)
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const LATE = { submittedAfterMs: 25 * MINUTE }
const UID = '5f0c9b1e-2c1c-4c0a-9d5b-7b6c1f3a2d10'
const ID = '4q8kd5m7f3m0v8v1h2j3k4l5m6'
const GOOGLE_UID = `${ID}@google.com`
const START = '2026-12-01T10:00:00+01:00'
const END = '2026-12-01T11:00:00+01:00'

interface World {
  /** Changes what is in the calendars, by milliseconds after the claim; the first at once. */
  readonly at: Readonly<Record<number, (calendars: Calendars) => void>>
  readonly params?: JsonObject
  readonly submittedAfterMs?: number
  readonly target?: string
}

const PROVIDERS = {
  caldav: {
    target: DAV_CALENDAR,
    params: { uid: UID },
    options: { base_url: `https://${DAV_HOST}`, username: 'ann', password: PASSWORD },
  },
  google_calendar: { target: GOOGLE_CALENDAR, params: { uid: GOOGLE_UID }, options: GOOGLE_OPTIONS },
} as const

async function live(t: Test, provider: keyof typeof PROVIDERS, { at, submittedAfterMs = 500, ...world }: World) {
  const clock = createVirtualClock(NOW)
  const calendars = new Calendars(clock.now)
  const changes = Object.entries(at).map(([after, change]) => ({ from: NOW + Number(after), change }))
  const tokens = await startTokens()
  const { url, stop } = await calendars.start()
  const own = PROVIDERS[provider]
  try {
    const { decision, records, requests } = await liveClaim({
      plugin: calendar,
      options: tokens.pluginOptions,
      connection: { provider, options: own.options },
      destination: url,
      claim: {
        action: 'calendar.event.create',
        target: world.target ?? own.target,
        params: { ...own.params, ...world.params },
        claimedAt: NOW,
      },
      submittedAt: NOW + submittedAfterMs,
      clock,
      async reach(until) {
        for (const { from, change } of changes) if (from <= until) change(calendars)
      },
    })
    const last = records.findLast((record) => 'observation' in record)
    const facts = last && 'observation' in last ? last.observation.facts : {}
    t.notOk(JSON.stringify(records).includes('Board'), 'no read keeps a title')
    return { verdict: decision?.verdict.value, facts, requests: requests.length }
  } finally {
    stop()
    tokens.stop()
  }
}

const objectOf = (lines: Readonly<Record<string, string>>) =>
  iCalendar({ UID, DTSTART: ';TZID=Europe/Berlin:20261201T100000', DURATION: 'PT1H', ...lines })

/** Puts an object into the CalDAV calendar. */
const dav =
  (lines: Readonly<Record<string, string>> = {}) =>
  (at: Calendars) => {
    at.objects = { 'a1.ics': objectOf(lines) }
  }

const google =
  (event: object = {}, madeAfter = 0, changedAfter = madeAfter) =>
  (at: Calendars) => {
    const times = {
      created: new Date(NOW + madeAfter).toISOString(),
      updated: new Date(NOW + changedAfter + 300).toISOString(),
      start: { dateTime: START },
      end: { dateTime: END },
    }
    const organizer = { email: GOOGLE_ID, self: true }
    at.google = [{ id: ID, iCalUID: GOOGLE_UID, status: 'confirmed', ...times, organizer, ...event }]
  }

const times = { params: { start: START, end: END } }

t.test('in time, at the claimed times', async (t) => {
  for (const [provider, put] of [
    ['caldav', dav()],
    ['google_calendar', google()],
  ] as const) {
    const { verdict, facts, requests } = await live(t, provider, { at: { 0: put }, ...times })
    t.equal(verdict, 'verified', provider)
    t.match(facts, { starts: '2026-12-01T09:00:00.000Z', ends: '2026-12-01T10:00:00.000Z', all_day: false })
    t.equal(requests, provider === 'caldav' ? 2 : 1, 'of CalDAV also whether it is a calendar')
    const told = provider === 'caldav' ? 'unverifiable' : 'verified'
    t.equal((await live(t, provider, { at: { 0: put }, ...times, ...LATE })).verdict, told, "by the place's record")
    t.equal((await live(t, provider, { at: { [5 * MINUTE]: put }, ...times })).verdict, 'verified', 'later in time')
  }
})

t.test('too late', async (t) => {
  const after = 20 * MINUTE
  t.equal((await live(t, 'caldav', { at: { [after]: dav() } })).verdict, 'late', 'reads saw it missing')
  t.equal((await live(t, 'google_calendar', { at: { [after]: google({}, after) } })).verdict, 'late')
  const unseen = { at: { [after]: dav() }, ...LATE }
  t.equal((await live(t, 'caldav', unseen)).verdict, 'unverifiable', 'nothing dates it')
  const made = { at: { [after]: google({}, after) }, ...LATE }
  t.equal((await live(t, 'google_calendar', made)).verdict, 'late', 'by the time at which it was made')
})

t.test('moved from another calendar after the tolerance', async (t) => {
  const moved = { at: { [20 * MINUTE]: google({}, 0, 20 * MINUTE) } }
  t.equal((await live(t, 'google_calendar', { ...moved, ...LATE })).verdict, 'unverifiable', 'made in time')
})

t.test('at another time', async (t) => {
  const other = { params: { start: '2026-12-01T10:00:00Z' } }
  t.equal((await live(t, 'caldav', { at: { 0: dav() }, ...other })).verdict, 'mismatch')
  t.equal((await live(t, 'caldav', { at: { 0: dav() }, ...other, ...LATE })).verdict, 'unverifiable')
  t.equal((await live(t, 'google_calendar', { at: { 0: google() }, ...other, ...LATE })).verdict, 'mismatch', 'as made')
  const long = { at: { 0: google({}, -2 * DAY, -DAY) }, ...other, ...LATE }
  t.equal((await live(t, 'google_calendar', long)).verdict, 'mismatch', 'so since the day before')
  const edited = { at: { 0: google({}, -MINUTE, 0) }, ...other }
  t.equal((await live(t, 'google_calendar', edited)).verdict, 'unverifiable', 'it may have been at the claimed one')
  const end = { params: { end: '2026-12-01T10:30:00+01:00' } }
  t.equal((await live(t, 'caldav', { at: { 0: dav() }, ...end })).verdict, 'mismatch')
  const corrected = { 0: google({ start: { dateTime: END } }), [5 * MINUTE]: google({}, 0, 5 * MINUTE) }
  t.equal((await live(t, 'google_calendar', { at: corrected, ...times })).verdict, 'verified', 'corrected in time')
  const tooLate = { 0: google({ start: { dateTime: END } }), [20 * MINUTE]: google({}, 0, 20 * MINUTE) }
  t.equal((await live(t, 'google_calendar', { at: tooLate, ...times })).verdict, 'late', 'corrected too late')
})

t.test('whole days, times without a zone, and zones that are not known', async (t) => {
  const day = { params: { start: '2026-12-01', end: '2026-12-02' } }
  const wholeDay = { DTSTART: ';VALUE=DATE:20261201', DURATION: 'P1D' }
  t.match(await live(t, 'caldav', { at: { 0: dav(wholeDay) }, ...day }), {
    verdict: 'verified',
    facts: { all_day: true },
  })
  t.equal((await live(t, 'caldav', { at: { 0: dav() }, ...day })).verdict, 'mismatch', 'a time is no day')
  t.equal((await live(t, 'caldav', { at: { 0: dav(wholeDay) }, ...times })).verdict, 'mismatch', 'a day is no time')
  const whole = google({ start: { date: '2026-12-01' }, end: { date: '2026-12-02' } })
  t.equal((await live(t, 'google_calendar', { at: { 0: whole }, ...day })).verdict, 'verified')

  const floating = await live(t, 'caldav', { at: { 0: dav({ DTSTART: '20261201T100000' }) }, ...times })
  t.match(floating, { verdict: 'mismatch', facts: { starts: '2026-12-01T10:00:00' } })
  const unknown = dav({ DTSTART: ';TZID=W. Europe Standard Time:20261201T100000' })
  const { verdict, facts } = await live(t, 'caldav', { at: { 0: unknown }, ...times })
  t.equal(verdict, 'unverifiable')
  t.notHas(facts, 'starts')
  t.equal((await live(t, 'caldav', { at: { 0: unknown } })).verdict, 'verified', 'a claim without times')
})

t.test('what is missing', async (t) => {
  for (const provider of ['caldav', 'google_calendar'] as const) {
    t.equal((await live(t, provider, { at: {} })).verdict, 'failed', provider)
    t.equal((await live(t, provider, { at: {}, ...LATE })).verdict, 'unverifiable', 'it may be deleted')
  }
  const deleted = google({ status: 'cancelled' })
  t.match(await live(t, 'google_calendar', { at: { 0: deleted } }), {
    verdict: 'unverifiable',
    facts: { status: 'cancelled' },
  })
  const another = dav({ UID: `${UID}-2` })
  t.equal((await live(t, 'caldav', { at: { 0: another } })).verdict, 'failed', 'a UID that begins alike')
})

t.test('servers that search for no UID', async (t) => {
  const silent = (change: (at: Calendars) => void) => (at: Calendars) => {
    change(at)
    at.searches = false
  }
  t.match(await live(t, 'caldav', { at: { 0: silent(dav()) }, ...times }), { verdict: 'verified', requests: 4 })
  t.equal((await live(t, 'caldav', { at: { 0: silent(dav({ UID: 'other' })) } })).verdict, 'failed', 'all are read')
  const few = await live(t, 'caldav', { at: { 0: dav({ UID: 'other' }) } })
  t.ok(few.requests < 2.1 * 60, 'a search that works is believed from then on')
})

t.test('what may be hidden', async (t) => {
  const others = (at: Calendars) => {
    at.owner = '/principals/bob/'
  }
  t.equal(
    (await live(t, 'caldav', { at: { 0: others } })).verdict,
    'unverifiable',
    "private events of another's calendar",
  )
  const busy = (at: Calendars) => {
    at.role = 'freeBusyReader'
  }
  t.equal((await live(t, 'google_calendar', { at: { 0: busy } })).verdict, 'unverifiable')
  const invitation = google({ isHidden: true, organizer: { email: 'bob@example.com' } })
  t.equal((await live(t, 'google_calendar', { at: { 0: invitation } })).verdict, 'unverifiable', 'a hidden invitation')
  const untold = await live(t, 'google_calendar', { at: { 0: google({ organizer: undefined }) }, ...times })
  t.equal(untold.verdict, 'verified', 'a private event, without its organizer')
  t.notHas(untold.facts, 'organizer_is_calendar')
  const target = `caldav:${DAV_HOST}/calendars/ann/home`
  t.equal((await live(t, 'caldav', { at: {}, target })).verdict, 'unverifiable', 'no such calendar')
})

t.test('series, and single occurrences of them', async (t) => {
  const series = dav({ RRULE: 'FREQ=WEEKLY' })
  t.match(await live(t, 'caldav', { at: { 0: series }, ...times }), {
    verdict: 'verified',
    facts: { is_recurring: true },
  })
  const later = { params: { start: '2026-12-08T10:00:00+01:00' } }
  t.equal(
    (await live(t, 'caldav', { at: { 0: series }, ...later })).verdict,
    'mismatch',
    'its start is that of the first',
  )
  const one = dav({ 'RECURRENCE-ID': ';TZID=Europe/Berlin:20261201T100000' })
  t.equal((await live(t, 'caldav', { at: { 0: one }, ...times })).verdict, 'unverifiable', 'an occurrence is no series')

  const master = { recurrence: ['RRULE:FREQ=WEEKLY'] }
  const instance = { id: `${ID}_20261208T090000Z`, iCalUID: GOOGLE_UID, recurringEventId: ID, status: 'confirmed' }
  const changed = {
    ...instance,
    originalStartTime: { dateTime: '2026-12-08T09:00:00Z' },
    start: { dateTime: '2026-12-08T12:00:00Z' },
    end: { dateTime: '2026-12-08T13:00:00Z' },
  }
  const both = (at: Calendars) => {
    google(master)(at)
    at.google = [...at.google, changed]
  }
  t.equal((await live(t, 'google_calendar', { at: { 0: both }, ...times })).verdict, 'verified')
  const byId = { params: { event_id: changed.id, start: '2026-12-08T12:00:00Z' } }
  t.equal((await live(t, 'google_calendar', { at: { 0: both }, ...byId })).verdict, 'verified', 'named by its own id')
})

t.test('an invitation, whose times are of the organizer', async (t) => {
  const invited = google({ organizer: { email: 'bob@example.com' } }, -DAY)
  const { verdict, facts } = await live(t, 'google_calendar', { at: { 0: invited }, ...times })
  t.equal(verdict, 'verified')
  t.match(facts, { organizer_is_calendar: false })
  t.equal((await live(t, 'google_calendar', { at: { 0: invited }, ...times, ...LATE })).verdict, 'unverifiable')
})

t.test('an import, with the time at which it was made elsewhere', async (t) => {
  const imported = google({ iCalUID: UID }, -20 * DAY, 20 * MINUTE)
  const world = { at: { [20 * MINUTE]: imported }, params: { uid: UID } }
  const { verdict, facts } = await live(t, 'google_calendar', world)
  t.equal(verdict, 'late', 'reads saw it missing')
  t.notHas(facts, 'created')
  t.equal((await live(t, 'google_calendar', { ...world, ...LATE })).verdict, 'unverifiable')
})

t.test('ids of another kind of calendar, and an id with another UID', async (t) => {
  const id = { params: { event_id: ID } }
  t.equal((await live(t, 'caldav', { at: { 0: dav() }, ...id })).verdict, 'unverifiable')
  const other = { params: { event_id: ID, uid: 'other@google.com' }, at: { 0: google() } }
  t.equal((await live(t, 'google_calendar', other)).verdict, 'mismatch')
})

t.test('spellings of one calendar', async (t) => {
  const target = 'caldav:DAV.example.com:443/calendars/%61nn/work/'
  t.equal((await live(t, 'caldav', { at: { 0: dav() }, target })).verdict, 'verified')
  const upper = { at: { 0: google() }, target: GOOGLE_CALENDAR.replace('team', 'Team') }
  t.equal((await live(t, 'google_calendar', upper)).verdict, 'verified')
})
