/** Claims of version 1 that wait still: its rules are told by the observation when the first look was late. */
import type { Claim, Observation } from '@claimcheck/core'
import registry from '@claimcheck/plugin-registry'
import t from 'tap'
import { checkWith, claimOf, MINUTE, NOON } from './fixture.ts'
import { type Routes, serve } from './serve.ts'

const logger = { debug() {}, info() {}, warn() {} }

t.test('the versions of the action, the newest first', async (t) => {
  const { verifiers } = await registry.setup({ logger, now: Date.now }, {})
  const versions = verifiers!.map(({ profile: { version, rulesVersion } }) => [version, rulesVersion])
  t.strictSame(versions, [
    ['2', 3],
    ['1', 2],
  ])
})

t.test('where a registry has no log, a late look says so', async (t) => {
  const gone: Routes = { '/simple/tool/': { name: 'tool', versions: ['0.9'] } }
  const { url } = await serve(t, gone)
  const { verifiers } = await registry.setup({ logger, now: Date.now }, { public_pypi_url: url })
  const v1 = verifiers!.find(({ profile }) => profile.version === '1')!
  const claim: Claim = { ...claimOf({ target: 'pypi:tool' }), params: { version: '1.0.0' } }
  const look = (now: number): Promise<Observation> => checkWith(v1, claim, now)
  t.equal((await look(NOON + 1000)).mark, undefined)
  t.equal((await look(NOON + MINUTE)).mark, 'may_have_been')
})
