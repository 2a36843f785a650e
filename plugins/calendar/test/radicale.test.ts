// Test run: slow
/** Events are read at a real Radicale, which writes them anew, for their owner and for another account. */
import type { JsonObject } from '@claimcheck/core/plugin'
import { createVirtualClock, liveClaim, tryClaim } from '@claimcheck/core/testkit'
import calendar from '@claimcheck/plugin-calendar'
import t from 'tap'
import { iCalendar } from './calendars.ts'
import { AUDITOR, AUDITOR_PASSWORD, OWNER, PASSWORD } from './traps/caldav-server.ts'
import { radicaleProblem, startRadicale } from './traps/radicale.ts'

const UID = '5f0c9b1e-2c1c-4c0a-9d5b-7b6c1f3a2d10'
const START = '2026-12-01T10:00:00+01:00'
const RIGHTS = `[auditor]\nuser: ${AUDITOR}\ncollection: ${OWNER}(/.*)?\npermissions: Rr\n`

const problem = radicaleProblem()
const skip = problem === undefined ? {} : { skip: `${problem}: apt-get install radicale` }

t.test('events of a real calendar', skip, async (t) => {
  const { url, stop } = await startRadicale(RIGHTS)
  t.teardown(stop)

  async function send(method: string, path: string, body?: string) {
    const headers = { authorization: `Basic ${btoa(`${OWNER}:${PASSWORD}`)}`, 'content-type': 'text/calendar' }
    const { status } = await fetch(url + path, { method, headers, ...(body !== undefined && { body }) })
    t.ok(status < 300, `${method} ${path}: ${status}`)
  }
  const put = (lines: Readonly<Record<string, string>>) => {
    const event = { UID, DTSTART: ';TZID=Europe/Berlin:20261201T100000', DURATION: 'PT1H', ...lines }
    return send('PUT', `/${OWNER}/work/a1.ics`, iCalendar(event))
  }
  const claimOf = (params: JsonObject, claimedAt: number) => ({
    action: 'calendar.event.create',
    target: `caldav:${new URL(url).host}/${OWNER}/work`,
    params: { uid: UID, ...params },
    claimedAt,
  })
  const own = { base_url: url, username: OWNER, password: PASSWORD }
  const shared = { base_url: url, username: AUDITOR, password: AUDITOR_PASSWORD }
  /** The observation of one check, or its failure. */
  async function see(params: JsonObject = {}, connection: JsonObject = own) {
    const claim = claimOf(params, Date.now())
    const { record } = await tryClaim({ plugin: calendar, provider: 'caldav', connection, claim })
    return 'observation' in record ? record.observation : record.failure
  }

  await send('MKCALENDAR', `/${OWNER}/work/`)
  t.match(await see(), { kind: 'absent' })
  t.match(await see({}, shared), { code: 'forbidden' }, 'another account may not see private events')
  await put({})
  const facts = { uid: UID, starts: '2026-12-01T09:00:00.000Z', ends: '2026-12-01T10:00:00.000Z' }
  t.match(await see({ start: START }), { kind: 'present', differs: [], facts })
  t.match(await see({ start: START }, shared), { kind: 'present', differs: [], facts })
  t.match(await see({ start: '2026-12-01' }), { kind: 'present', differs: ['start'] })
  t.match(await see({ uid: 'another' }), { kind: 'absent' }, 'a search that finds nothing, beside an event')

  const now = Date.now()
  const { decision } = await liveClaim({
    plugin: calendar,
    connection: { provider: 'caldav', options: own },
    claim: claimOf({ start: START }, now),
    submittedAt: now,
    clock: createVirtualClock(now),
    reach: async () => {},
  })
  t.equal(decision?.verdict.value, 'verified')

  await put({ RRULE: 'FREQ=WEEKLY', DTSTART: ';VALUE=DATE:20261201', DURATION: 'P2D' })
  const series = { is_recurring: true, all_day: true, starts: '2026-12-01', ends: '2026-12-03' }
  t.match(await see(), { kind: 'present', facts: series })
})
