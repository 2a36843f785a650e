/** How many requests are open at /mcp, and what ends them. Threat A8 of `security.md`. */
import { chunksUntil, createExchanges, REFUSED } from '@claimcheck/server/features/mcp/exchanges'
import t from 'tap'

const LIMITS = { mostOfOne: 2, mostOfPayer: 3, mostInAll: 8, askEveryMs: 1 }
/** Of a workspace of its own, where none is named. */
const of = (spender: string, workspaceId = spender, payer = workspaceId) => ({ spender, workspaceId, payer })
const good = async () => true

t.test('one credential has so many open at once, and a workspace and a host so many in all', async (t) => {
  const exchanges = createExchanges(LIMITS)
  const first = exchanges.open(of('one'), good)
  exchanges.open(of('one'), good)
  t.throws(() => exchanges.open(of('one'), good), /at most 2 of one key/)
  exchanges.open(of('second key', 'one'), good)
  t.throws(() => exchanges.open(of('third key', 'one'), good), /this workspace may have at most 3/)
  for (const other of ['b', 'c', 'd', 'e', 'f']) exchanges.open(of(other), good)
  t.throws(() => exchanges.open(of('last'), good), /on this host/)
  first.end()
  first.end()
  exchanges.open(of('last'), good)
  t.equal(exchanges.size, 8)
  exchanges.endAll()
  t.equal(exchanges.size, 0)
})

t.test('one account with four workspaces, and the keys of each, leaves places to every other account', async (t) => {
  const exchanges = createExchanges()
  t.teardown(() => exchanges.endAll())
  const take = (payer: string) => {
    let taken = 0
    for (let asked = 0; asked < 1000; asked++) {
      const workspaceId = `${payer} ws ${asked % 4}`
      try {
        exchanges.open(of(`${workspaceId} key ${asked % 60}`, workspaceId, payer), good)
        taken++
      } catch (error) {
        t.match(error, { statusCode: 429 })
      }
    }
    return taken
  }
  t.equal(take('hostile'), 128)
  t.strictSame(['b', 'c', 'd', 'e'].map(take), [128, 128, 64, 32], 'other greedy ones')
  exchanges.open(of('victim'), good)
})

t.test('what is not good any more ends, and what cannot be asked ends as well', async (t) => {
  const exchanges = createExchanges(LIMITS)
  // The timers of exchanges keep no process alive.
  const alive = setInterval(() => {}, 1000)
  t.teardown(() => clearInterval(alive))
  const answers: readonly (() => Promise<boolean>)[] = [async () => false, () => Promise.reject(new Error('away'))]
  for (const isGood of answers) {
    const { signal } = exchanges.open(of('one'), isGood)
    await new Promise((done) => signal.addEventListener('abort', done))
    t.equal(signal.reason, REFUSED)
  }
  t.equal(exchanges.size, 0)
})

t.test('a body ends with its signal, also where its source goes on', async (t) => {
  let isCancelled = false
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(Buffer.from('first')),
    cancel: () => {
      isCancelled = true
    },
  })
  const controller = new AbortController()
  const chunks: string[] = []
  for await (const chunk of chunksUntil(body, controller.signal)) {
    chunks.push(Buffer.from(chunk).toString())
    controller.abort()
  }
  t.strictSame(chunks, ['first'])
  t.ok(isCancelled)
})
