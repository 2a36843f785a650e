/** A fault that repeats is one line, a summary a minute, and a line when it was quiet for one. */
import { setTimeout } from 'node:timers/promises'
import { createLogLines } from '@claimcheck/server/host/log-lines'
import pino from 'pino'
import t from 'tap'

const EVERY_MS = 40

function logger() {
  const lines: Record<string, unknown>[] = []
  const { hooks, flush } = createLogLines(EVERY_MS)
  const log = pino({ hooks }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  return { log, lines, flush }
}

async function until(isReached: () => boolean) {
  for (let tries = 0; !isReached() && tries < 200; tries++) await setTimeout(10)
}

t.test('the first line at once, then counts, then that it is quiet', async (t) => {
  const { log, lines } = logger()
  for (let times = 0; times < 50; times++)
    log.error({ err: new Error('away'), claimId: `clm_${times}` }, 'cannot store')
  t.equal(lines.length, 1)
  t.match(lines[0], { msg: 'cannot store', claimId: 'clm_0', err: { message: 'away' }, level: 50 })
  log.error({ err: new Error('full') }, 'cannot store')
  t.match(lines[1], { err: { message: 'full' } }, 'another fault is another line')
  await until(() => lines.length === 4)
  t.match(lines[2], { msg: 'cannot store', claimId: 'clm_49', repeated: 49 })
  t.match(lines[3], { msg: 'quiet: cannot store', total: 50 })
  log.error({ err: new Error('away') }, 'cannot store')
  t.match(lines[4], { msg: 'cannot store' }, 'after that it is a first line again')
})

t.test('what differs in a detail is another line, at once', async (t) => {
  const { log, lines } = logger()
  for (const name of ['problem', 'reason', 'warning', 'doubt', 'code', 'error', 'action', 'limit'])
    for (const value of ['one', 'other', 'one']) log.warn({ [name]: value, claimId: 'clm_1' }, 'failed')
  log.warn({ problem: 'one', action: 'a.b.c' }, 'failed')
  log.warn({ problem: 'one', action: 'a.b.d' }, 'failed')
  t.equal(lines.length, 8 * 2 + 2)
})

t.test('refused requests are sampled, others are not', async (t) => {
  const { log, lines, flush } = logger()
  for (let times = 0; times < 5; times++) {
    log.info({ method: 'POST', route: '/v1/claims', status: 429 }, 'request')
    log.info({ method: 'POST', route: '/v1/claims', status: 202 }, 'request')
  }
  t.equal(lines.filter(({ status }) => status === 202).length, 5)
  t.equal(lines.filter(({ status }) => status === 429).length, 1)
  flush()
  t.match(lines.at(-1), { status: 429, repeated: 4 }, 'what was counted is logged at the latest when the program ends')
})

t.test('what anyone may send without a credential is sampled, of each status of each route', async (t) => {
  const { log, lines } = logger()
  const requests = [
    { method: 'GET', route: '/readyz', status: 503 },
    { method: 'GET', route: '/v1/claims', status: 400 },
    { method: 'GET', route: '/v1/receipts/:receipt_id', status: 404 },
    { method: 'POST', route: '/v1/claims', status: 422 },
    { method: 'POST', route: '/v1/claims', status: 500 },
    { method: 'OPTIONS', route: null, status: 204 },
    { method: 'OPTIONS', route: '/v1/claims', status: 204, anonymous: true },
    { method: 'GET', route: '/console', status: 302, anonymous: true },
    { method: 'GET', route: '/v1/receipts/:receipt_id', status: 200, anonymous: true },
  ]
  for (let times = 0; times < 50; times++) for (const request of requests) log.info(request, 'request')
  t.equal(lines.length, requests.length)
})

t.test('details without end share a line', async (t) => {
  const { log, lines } = logger()
  for (let count = 0; count < 3000; count++) log.warn({ problem: `problem ${count}` }, 'a plugin failed')
  t.equal(lines.length, 1001)
})

t.test('lines of a plugin name the plugin, also in a summary', async (t) => {
  const { log, lines, flush } = logger()
  const [one, other] = [log.child({ plugin: 'one' }), log.child({ plugin: 'other' })]
  for (const child of [one, one, other]) child.warn({ problem: 'ended' }, 'the process of the plugin ended')
  t.equal(lines.length, 2)
  flush()
  t.match(lines[2], { plugin: 'one', repeated: 1 })
})
