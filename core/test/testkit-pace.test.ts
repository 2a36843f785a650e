// Test run: end-to-end, slow
/** The kit's time limits count the time that the plugin's process had, so that a busy machine fails no honest plugin. */
import { resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'

type AfterOwn = (ms: number, act: () => void) => () => void

// The kit keeps it to itself.
const { afterOwn } = (await import(resolve('core/dist/testkit/pace.js'))) as { readonly afterOwn: AfterOwn }

/** The thread gets no processor and waits for no event, as on a machine whose processors others have. */
function starve(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

function work(ms: number): void {
  const start = process.cpuUsage()
  for (;;) {
    const { user, system } = process.cpuUsage(start)
    if ((user + system) / 1000 >= ms) return
  }
}

/** What is due has happened. */
const turn = () => sleep(1)

function started(ms: number) {
  const startedAt = performance.now()
  const state = { actedMs: undefined as number | undefined, cancel: () => {} }
  state.cancel = afterOwn(ms, () => {
    state.actedMs = performance.now() - startedAt
  })
  return state
}

async function acted(state: { readonly actedMs: number | undefined }): Promise<number> {
  while (state.actedMs === undefined) await sleep(5)
  return state.actedMs
}

t.test('time in which the process waits for events counts', async (t) => {
  const ms = await acted(started(100))
  t.ok(ms >= 99, `${ms} ms`)
})

t.test('time in which it has the processor counts', async (t) => {
  const state = started(100)
  work(120)
  await turn()
  t.type(state.actedMs, 'number')
})

t.test('time in which others have the processor does not count', async (t) => {
  const state = started(200)
  starve(500)
  await turn()
  t.equal(state.actedMs, undefined, 'it had none of its time yet')
  const ms = await acted(state)
  t.ok(ms >= 650, `${ms} ms`)
})

t.test('after ten times the limit it acts whatever the process had', async (t) => {
  const state = started(40)
  starve(400)
  await turn()
  t.type(state.actedMs, 'number')
})

t.test('what is cancelled does not act', async (t) => {
  const state = started(20)
  state.cancel()
  await sleep(100)
  t.equal(state.actedMs, undefined)
})
