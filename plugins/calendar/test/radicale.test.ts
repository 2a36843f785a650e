// Test run: slow
/** Events are read at a real Radicale, which folds and writes them anew, and keeps the time of what is moved. */
import { statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { JsonObject } from '@claimcheck/core/plugin'
import { createVirtualClock, liveClaim, tryClaim } from '@claimcheck/core/testkit'
import calendar from '@claimcheck/plugin-calendar'
import t, { type Test } from 'tap'
import { freePort, startServer, temporaryFolder } from '../../../server/test/support/service-process.ts'
import { findProgram } from '../../../test/support/programs.ts'
import { iCalendar } from './calendars.ts'

const PASSWORD = 'a-password-of-ann'
const UID = '5f0c9b1e-2c1c-4c0a-9d5b-7b6c1f3a2d10'
const MINUTE = 60_000
const START = '2026-12-01T10:00:00+01:00'

const program = findProgram('radicale')
const skip = program ? {} : { skip: 'there is no Radicale: apt-get install radicale' }

/** Starts Radicale with the calendars `work` and `home` of ann, which bob can read. */
async function start(t: Test) {
  const folder = temporaryFolder(t)
  const port = await freePort()
  writeFileSync(join(folder, 'users'), `ann:${PASSWORD}\nbob:${PASSWORD}\n`)
  writeFileSync(
    join(folder, 'rights'),
    '[own]\nuser: .+\ncollection: {user}(/.*)?\npermissions: RWrw\n[bob]\nuser: bob\ncollection: ann(/.*)?\npermissions: Rr\n',
  )
  const config = [
    `[server]\nhosts = 127.0.0.1:${port}`,
    `[auth]\ntype = htpasswd\nhtpasswd_filename = ${folder}/users\nhtpasswd_encryption = plain\ndelay = 0`,
    `[rights]\ntype = from_file\nfile = ${folder}/rights`,
    `[storage]\nfilesystem_folder = ${folder}/store`,
  ]
  writeFileSync(join(folder, 'config'), config.join('\n'))
  await startServer(t, program!, ['--config', join(folder, 'config')], port)
  const url = `http://127.0.0.1:${port}`

  async function send(method: string, path: string, more: { headers?: Record<string, string>; body?: string } = {}) {
    const headers = { authorization: `Basic ${btoa(`ann:${PASSWORD}`)}`, ...more.headers }
    const { status } = await fetch(url + path, { method, ...more, headers })
    t.ok(status < 300, `${method} ${path}: ${status}`)
  }
  await send('MKCALENDAR', '/ann/work/')
  await send('MKCALENDAR', '/ann/home/')

  const claimOf = (params: JsonObject, claimedAt: number) => ({
    action: 'calendar.event.create',
    target: `caldav:127.0.0.1:${port}/ann/work`,
    params: { uid: UID, ...params },
    claimedAt,
  })
  const connectionOf = (username: string) => ({
    provider: 'caldav',
    connection: { base_url: url, username, password: PASSWORD },
  })
  return {
    put: (calendarName: string, lines: Readonly<Record<string, string>>) =>
      send('PUT', `/ann/${calendarName}/a1.ics`, {
        headers: { 'content-type': 'text/calendar' },
        body: iCalendar({ UID, DTSTART: ';TZID=Europe/Berlin:20261201T100000', DURATION: 'PT1H', ...lines }),
      }),
    move: () => send('MOVE', '/ann/home/a1.ics', { headers: { destination: `${url}/ann/work/a1.ics` } }),
    /** Gives files of the store another time. */
    age(paths: readonly string[], byMs: number) {
      const at = new Date(Date.now() - byMs)
      for (const path of paths) utimesSync(join(folder, 'store/collection-root/ann', path), at, at)
    },
    changedAt: () => statSync(join(folder, 'store/collection-root/ann/work/a1.ics')).mtimeMs,
    /** What one check sees. */
    async see(params: JsonObject = {}, username = 'ann') {
      const trial = await tryClaim({
        plugin: calendar,
        ...connectionOf(username),
        claim: claimOf(params, Date.now()),
      })
      return 'observation' in trial.record ? trial.record.observation : trial.record.failure
    },
    /** The verdict on a claim of a deed so long ago. */
    async verdict(claimedAgoMs: number, params: JsonObject = {}) {
      const now = Date.now()
      const { decision } = await liveClaim({
        plugin: calendar,
        connection: { provider: 'caldav', options: connectionOf('ann').connection },
        claim: claimOf(params, now - claimedAgoMs),
        submittedAt: now,
        clock: createVirtualClock(now),
        reach: async () => {},
      })
      return decision?.verdict.value
    },
  }
}

t.test('events of a real calendar', skip, async (t) => {
  const radicale = await start(t)
  t.match(await radicale.see(), { kind: 'absent' })
  t.match(await radicale.see({}, 'bob'), { code: 'forbidden' }, 'another account may not see private events')
  await radicale.put('work', {})
  const facts = { uid: UID, starts: '2026-12-01T09:00:00.000Z', ends: '2026-12-01T10:00:00.000Z' }
  t.match(await radicale.see({ start: START }), { kind: 'present', differs: [], facts })
  t.match(await radicale.see({ start: START }, 'bob'), { kind: 'present', differs: [] })
  t.match(await radicale.see({ start: '2026-12-01' }), { kind: 'present', differs: ['start'] })
  t.equal(await radicale.verdict(0, { start: START }), 'verified')

  await radicale.put('work', { RRULE: 'FREQ=WEEKLY', DTSTART: ';VALUE=DATE:20261201', DURATION: 'P2D' })
  const series = { is_recurring: true, all_day: true, starts: '2026-12-01', ends: '2026-12-03' }
  t.match(await radicale.see(), { kind: 'present', facts: series })
})

t.test('times of objects say nothing of when they came', skip, async (t) => {
  const radicale = await start(t)
  await radicale.put('home', {})
  radicale.age(['home/a1.ics', 'home', 'work/.Radicale.props', 'work'], 15 * MINUTE)
  await radicale.move()
  radicale.age(['work'], 15 * MINUTE)
  t.ok(radicale.changedAt() < Date.now() - 14 * MINUTE, 'an object keeps its time as it is moved')
  t.equal(await radicale.verdict(20 * MINUTE), 'unverifiable')
})
