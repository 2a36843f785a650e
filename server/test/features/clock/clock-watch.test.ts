import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { createTimekeeper } from '@claimcheck/server/clock/timekeeper'
import { createClockWatch } from '@claimcheck/server/features/clock/clock-watch'
import { createOutbound } from '@claimcheck/server/outbound/outbound'
import t, { type Test } from 'tap'

const NOON = Date.UTC(2026, 8, 25, 12)
const HOUR_MS = 3_600_000
const SOON_MS = 10_000

/** A destination that answers with this time. @returns its origin, and how often it was asked */
async function destination(t: Test, headers: () => Record<string, string>) {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.sendDate = false
    response.writeHead(404, headers()).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

interface Opening {
  readonly listed: readonly string[]
  readonly configured?: readonly string[]
  readonly issuedAt?: number
}

function open(t: Test, { listed, configured = [], issuedAt = NOON }: Opening) {
  const outbound = createOutbound({ allowPrivate: listed.map((url) => new URL(url).host) })
  t.teardown(() => outbound.close())
  const begun = performance.now()
  const steady = () => performance.now() - begun
  const keeper = createTimekeeper({ steady, reference: 'the clock', first: { offsetMs: NOON, errorMs: 1 } })
  const storage = { read: { log: { state: async () => ({ issuedAt }) } } } as never
  const config = { sources: { test: listed }, configuredSources: configured }
  const lines: string[] = []
  const logger = { error: () => lines.push('error'), info: () => lines.push('info') } as never
  const watch = createClockWatch({ clock: keeper, storage, outbound, config, logger }, { lookMs: 5, askMs: 20 })
  t.teardown(() => watch.stop())
  return { keeper, watch, lines }
}

const at = (offMs: number) => () => ({ date: new Date(NOON + offMs).toUTCString() })

async function until(isSo: () => boolean): Promise<boolean> {
  for (const end = Date.now() + SOON_MS; Date.now() < end; await setTimeout(5)) if (isSo()) return true
  return false
}

t.test('nothing is asked while the time is certain, and listed destinations while it is not', async (t) => {
  const { host, asked } = await destination(t, at(HOUR_MS))
  const { keeper, watch, lines } = open(t, {
    listed: [`http://${host}/api`, `http://${host}/other`, 'tls://mail.example:993'],
  })
  watch.start()
  await setTimeout(100)
  t.strictSame(asked, [])
  keeper.measured({ offsetMs: NOON + HOUR_MS, errorMs: 1 })
  t.ok(await until(() => keeper.doubt() === undefined), 'the destination confirms the clock')
  t.ok(await until(() => lines.length === 2))
  t.strictSame(lines, ['error', 'info'], 'the log says when it began and when it ended')
  t.ok(Math.abs(keeper.now() - NOON - HOUR_MS) < SOON_MS)
  t.ok(asked.length > 0)
  t.ok(asked.every((request) => request === 'HEAD /'))
})

t.test('answers out of a cache and answers without a time say nothing', async (t) => {
  for (const headers of [() => ({ ...at(HOUR_MS)(), age: '1' }), () => ({})]) {
    const { host, asked } = await destination(t, headers)
    const { keeper, watch } = open(t, { listed: [`http://${host}`] })
    keeper.measured({ offsetMs: NOON + HOUR_MS, errorMs: 1 })
    watch.start()
    t.ok(await until(() => asked.length > 2))
    t.ok(keeper.doubt() !== undefined)
  }
})

t.test('at the start the destinations in the configuration file are compared, and the log', async (t) => {
  const { host, asked } = await destination(t, at(HOUR_MS))
  const second = await destination(t, at(HOUR_MS))
  const listed = [`http://${host}`, `http://${second.host}`]
  t.equal(await open(t, { listed }).watch.compare(), undefined, 'those that are listed by default are not asked')
  t.strictSame(asked, [])
  const { watch } = open(t, { listed, configured: listed })
  t.match(await watch.compare(), /listed destinations/)
  await t.rejects(watch.requireTime(), { name: 'ServiceError', code: 'unavailable' })
  t.match(await open(t, { listed: [], issuedAt: NOON + HOUR_MS }).watch.compare(), /newest time in the log/)
})

t.test('a destination that does not answer is no obstacle', async (t) => {
  const closed = ['http://127.0.0.1:1']
  const { watch } = open(t, { listed: closed, configured: closed })
  t.equal(await watch.compare(), undefined)
  await watch.requireTime()
})
