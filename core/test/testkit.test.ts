// Test run: end-to-end, slow
/** The conformance kit: what it says of a good plugin, and that every check of it has a bad plugin that it catches. */
import type { Plugin } from '@claimcheck/core/plugin'
import { CHECKS } from '@claimcheck/core/testkit'
import t, { type Test } from 'tap'
import { IS_THOROUGH } from '../../test/support/extent.ts'
import { ABSENCE } from './bad-plugins/absence.ts'
import { CALLS, callPlugin } from './bad-plugins/calls.ts'
import { examine } from './bad-plugins/cases.ts'
import { CONNECTIONS } from './bad-plugins/connections.ts'
import { FORMS } from './bad-plugins/forms.ts'
import { challengedPlugin, identifiedPlugin, signedPlugin, ticketPlugin, tokenPlugin } from './bad-plugins/good.ts'
import { LEAKS } from './bad-plugins/leaks.ts'
import { LINES, linePlugin } from './bad-plugins/lines.ts'
import { REQUESTS } from './bad-plugins/requests.ts'
import type { Way } from './bad-plugins/row.ts'
import type { Situation } from './bad-plugins/tracker.ts'

t.setTimeout(300_000)

/** Told only of a plugin that fails them. */
const UNTOLD: readonly string[] = ['case.read', 'close.throws']
/** They find what is wrong with the test itself. */
const OF_THE_TEST: readonly string[] = ['case.claim', 'case.read', 'secrets.long-enough']

/** A good plugin of each way to read. */
const GOOD: readonly (readonly [way: Way, plugin: () => Plugin])[] = [
  ['requests', ticketPlugin],
  ['requests', () => identifiedPlugin()],
  ['signatures', signedPlugin],
  ['tokens', tokenPlugin],
  ['challenges', () => challengedPlugin()],
  ['calls', callPlugin],
  ['lines', linePlugin],
]

t.test('good plugins pass every check, and none is left out', async (t) => {
  const told = new Set<string>()
  for (const [way, plugin] of GOOD) {
    await t.test(`one that reads by ${way}`, async (t) => passes(t, way, plugin, told))
  }
  t.strictSame(
    Object.keys(CHECKS).filter((name) => !told.has(name)),
    UNTOLD,
  )
})

/** What differs from way to way shows where the outcome is there, and where it is not. */
const FEW: readonly Situation[] = ['closed', 'missing']

async function passes(t: Test, way: Way, plugin: () => Plugin, told: Set<string>): Promise<void> {
  const { ok, checks, untested } = await examine(plugin(), way === 'requests' || IS_THOROUGH ? undefined : FEW, way)
  t.strictSame(
    checks.filter(({ ok }) => !ok),
    [],
  )
  t.ok(ok)
  t.strictSame(untested, [])
  for (const { name } of checks) told.add(name)
}

t.test('a plugin that asks for no more requests than it needs is not blamed for redirects', async (t) => {
  const plugin = ticketPlugin()
  const few: Plugin = {
    ...plugin,
    async setup(host, options) {
      const { verifiers = [], ...parts } = await plugin.setup(host, options)
      return {
        ...parts,
        verifiers: verifiers.map((verifier) => ({ ...verifier, limits: { ...verifier.limits, requests: 3 } })),
      }
    },
  }
  const { checks } = await examine(few, ['closed late'])
  t.strictSame(
    checks.filter(({ ok }) => !ok),
    [],
  )
})

t.test('every check has a bad plugin', async (t) => {
  const rows = [...ABSENCE, ...REQUESTS, ...LEAKS, ...FORMS, ...LINES, ...CALLS, ...CONNECTIONS]
  t.ok(rows.length >= 30)
  const caught = new Set([...rows.map(([caughtBy]) => caughtBy), ...OF_THE_TEST])
  t.strictSame(
    Object.keys(CHECKS).filter((name) => !caught.has(name)),
    [],
  )
})
