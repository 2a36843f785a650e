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
