/** What a plugin's package exports, and the error that it throws, are known across copies of core. */

import { isPlugin, PLUGIN_API } from '@claimcheck/core/hosting'
import { DestinationError, definePlugin, isDestinationError, Type } from '@claimcheck/core/plugin'
import type { DestinationErrorCode } from '@claimcheck/core/rules'
import t from 'tap'

const parts = {
  name: 'good',
  api: PLUGIN_API,
  manifest: { hosts: [] },
  options: Type.Object({}),
  setup: () => ({}),
} as const

t.test('a plugin is what definePlugin returned, also in another copy of core', async (t) => {
  t.notOk(isPlugin(parts))
  t.ok(isPlugin(definePlugin({ ...parts })))
  t.ok(isPlugin({ ...parts, [Symbol.for('claimcheck.plugin')]: true }))
  for (const other of [undefined, null, 'plugin', () => parts, { 'claimcheck.plugin': true }]) t.notOk(isPlugin(other))
})

t.test('an error of a destination is known by its name, also from another copy of core', async (t) => {
  class DestinationErrorOfAnotherCopy extends Error {
    override readonly name = 'DestinationError'
  }
  t.ok(isDestinationError(new DestinationError('timeout')))
  t.ok(isDestinationError(new DestinationErrorOfAnotherCopy()))
  for (const other of [new Error('timeout'), { name: 'DestinationError', code: 'timeout' }, 'DestinationError', null])
    t.notOk(isDestinationError(other))
})

t.test('an error of a destination keeps what it is told, and nothing else', async (t) => {
  const cause = new TypeError('fetch failed')
  const error = new DestinationError('rate_limited', { status: 429, retryAfterMs: 5, cause })
  t.match(error, { code: 'rate_limited', status: 429, retryAfterMs: 5, cause })
  for (const code of ['too_large', 'misconfigured', 'unsupported_target'] satisfies DestinationErrorCode[]) {
    const plain = new DestinationError(code)
    t.equal(plain.code, code)
    t.strictSame([plain.status, plain.retryAfterMs], [undefined, undefined])
    t.match(plain.message, code)
  }
})
