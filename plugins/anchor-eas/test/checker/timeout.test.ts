// Test run: end-to-end
/** Work ends with its time or with the signal of who asked, whatever the garbage collector does. */
import { setTimeout as pause } from 'node:timers/promises'
import { withTimeout } from '@claimcheck/plugin-anchor-eas/checker'
import t from 'tap'
import { collectGarbage } from '../../../../test/support/garbage.ts'

const LONG_MS = 60_000

/** Ends when its signal is aborted. */
function endless(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const end = () => reject(signal.reason)
    if (signal.aborted) end()
    signal.addEventListener('abort', end)
  })
}

t.test('what takes too long ends with its time, also when garbage is collected meanwhile', async (t) => {
  const { signal } = new AbortController()
  const ended = withTimeout(signal, 100, endless)
  collectGarbage()
  await t.rejects(ended, { name: 'TimeoutError' })
})

t.test('the signal of who asked ends the work, before it begins or later', async (t) => {
  const asked = new AbortController()
  const ended = withTimeout(asked.signal, LONG_MS, endless)
  asked.abort(new Error('enough'))
  await t.rejects(ended, { message: 'enough' })
  await t.rejects(withTimeout(asked.signal, LONG_MS, endless), { message: 'enough' })
})

t.test('work that is done has its result, and ends what it left running', async (t) => {
  let given: AbortSignal | undefined
  const work = async (signal: AbortSignal) => {
    given = signal
    await pause(1)
    return 4711
  }
  t.equal(await withTimeout(undefined, LONG_MS, work), 4711)
  t.equal(given?.aborted, true)
  await t.rejects(
    withTimeout(undefined, LONG_MS, async () => {
      throw new Error('it fails')
    }),
    { message: 'it fails' },
  )
})
