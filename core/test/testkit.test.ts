/** The conformance kit: what it says of a good plugin, and that every check of it has a bad plugin that it catches. */
import type { Plugin } from '@claimcheck/core/plugin'
import { CHECKS } from '@claimcheck/core/testkit'
import t from 'tap'
import { ABSENCE } from './bad-plugins/absence.ts'
import { examine } from './bad-plugins/cases.ts'
import { FORMS } from './bad-plugins/forms.ts'
import { ticketPlugin } from './bad-plugins/good.ts'
import { LEAKS } from './bad-plugins/leaks.ts'
import { REQUESTS } from './bad-plugins/requests.ts'

t.setTimeout(120_000)

/** Told only of a plugin that fails them. */
const UNTOLD: readonly string[] = ['case.read', 'close.throws']
/** They find what is wrong with the test itself. */
const OF_THE_TEST: readonly string[] = ['case.claim', 'case.read', 'secrets.long-enough']

t.test('a good plugin passes every check, and none is left out', async (t) => {
  const { ok, checks, untested } = await examine(ticketPlugin())
  t.strictSame(
    checks.filter(({ ok }) => !ok),
    [],
  )
  t.ok(ok)
  t.strictSame(untested, [])
  const told = new Set(checks.map(({ name }) => name))
  t.strictSame(
    Object.keys(CHECKS).filter((name) => !told.has(name)),
    UNTOLD,
  )
})

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
  const { ok, checks } = await examine(few, ['closed late'])
  t.strictSame(
    checks.filter(({ ok }) => !ok),
    [],
  )
  t.ok(ok)
})

t.test('every check has a bad plugin', async (t) => {
  const rows = [...ABSENCE, ...REQUESTS, ...LEAKS, ...FORMS]
  t.ok(rows.length >= 30)
  const caught = new Set([...rows.map(({ caughtBy }) => caughtBy), ...OF_THE_TEST])
  t.strictSame(
    Object.keys(CHECKS).filter((name) => !caught.has(name)),
    [],
  )
})
