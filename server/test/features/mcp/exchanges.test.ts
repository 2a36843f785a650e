/** How many requests are open at /mcp, and what ends them. */
import { chunksUntil, createExchanges, REFUSED } from '@claimcheck/server/features/mcp/exchanges'
import t from 'tap'

const LIMITS = { mostOfOne: 2, mostOfWorkspace: 3, mostInAll: 4, askEveryMs: 1 }
/** Of a workspace of its own, where none is named. */
const of = (spender: string, workspaceId = spender) => ({ spender, workspaceId })
const good = async () => true

t.test('one credential has so many open at once, and a workspace and a host so many in all', async (t) => {
  const exchanges = createExchanges(LIMITS)
  const first = exchanges.open(of('one'), good)
  exchanges.open(of('one'), good)
  t.throws(() => exchanges.open(of('one'), good), /at most 2 of one key/)
  exchanges.open(of('second key', 'one'), good)
  t.throws(() => exchanges.open(of('third key', 'one'), good), /at most 3 of one workspace/)
  exchanges.open(of('other'), good)
  t.throws(() => exchanges.open(of('third'), good), /on this host/)
  first.end()
  first.end()
  exchanges.open(of('third'), good)
  t.equal(exchanges.size, 4)
  exchanges.endAll()
  t.equal(exchanges.size, 0)
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
