/** Shows that `wait_for_claim` looks when the service tells of a decision, and seldom otherwise. */
import type { Backend } from '@claimcheck/cli/mcp/backend'
import { TOOLS } from '@claimcheck/cli/mcp/tools'
import t from 'tap'

const { run } = TOOLS.find(({ name }) => name === 'wait_for_claim')!

/** A service with one claim, which is decided when the test says so. */
function begin({ tells }: { tells: boolean }) {
  const state = { isDecided: false, reads: 0, wake: () => {}, listeners: 0 }
  const backend = {
    async claim(claimId: string) {
      state.reads++
      const verdict = state.isDecided ? 'verified' : null
      return { claim_id: claimId, state: verdict ? 'decided' : 'queued', verdict, reason_code: null, attempts: 1 }
    },
    ...(tells && {
      onDecision(wake: () => void) {
        state.wake = wake
        state.listeners++
        return () => void state.listeners--
      },
    }),
  } as unknown as Backend
  const wait = (seconds: number, signal = new AbortController().signal) =>
    run(backend, { claim_id: 'clm_1', seconds } as never, { signal })
  return { state, wait }
}

t.test('a decision wakes it at once, and others of the workspace do no harm', async (t) => {
  const { state, wait } = begin({ tells: true })
  const waiting = wait(30)
  setTimeout(() => state.wake(), 1000)
  let decidedAt = 0
  setTimeout(() => {
    state.isDecided = true
    decidedAt = performance.now()
    state.wake()
  }, 4000)
  t.match((await waiting).facts, { state: 'decided' })
  t.ok(performance.now() - decidedAt < 500, `${performance.now() - decidedAt} ms`)
  t.ok(state.reads <= 8, `${state.reads} reads`)
  t.equal(state.listeners, 0)
})

t.test('it ends after its time, with its signal, and where nobody tells it looks again and again', async (t) => {
  const told = begin({ tells: true })
  t.match((await told.wait(1)).facts, { state: 'queued' })
  const reason = new Error('the client went')
  const stop = new AbortController()
  setTimeout(() => stop.abort(reason), 500)
  await t.rejects(told.wait(30, stop.signal), reason)
  t.equal(told.state.listeners, 0)
  const silent = begin({ tells: false })
  const waiting = silent.wait(30)
  setTimeout(() => {
    silent.state.isDecided = true
  }, 1000)
  t.match((await waiting).facts, { state: 'decided' })
})
