import { getMaxListeners } from 'node:events'
import { LazyAbortController } from '@claimcheck/server/base/time-limit'
import t from 'tap'

t.test('a signal that is taken first is aborted with its controller', async (t) => {
  const controller = new LazyAbortController()
  const { signal } = controller
  t.notOk(signal.aborted)
  controller.abort()
  t.ok(signal.aborted)
})

t.test('a signal that is taken after the abort is aborted', async (t) => {
  const controller = new LazyAbortController()
  controller.abort()
  t.ok(controller.signal.aborted)
})

t.test('a controller has one signal', async (t) => {
  const controller = new LazyAbortController()
  t.equal(controller.signal, controller.signal)
})

t.test('a signal takes the listeners of as many requests as a check may send, without a warning', async (t) => {
  const { signal } = new LazyAbortController()
  const warnings: Error[] = []
  const heard = (warning: Error) => warnings.push(warning)
  process.on('warning', heard)
  for (let request = 0; request < 64; request++) signal.addEventListener('abort', () => {})
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', heard)
  t.strictSame(warnings, [])
})

t.test('a request by fetch takes the signal, on every version of Node', async (t) => {
  const { signal } = new LazyAbortController()
  t.ok(getMaxListeners(signal) > 0)
  t.doesNotThrow(() => new Request('http://localhost/', { signal }))
})
