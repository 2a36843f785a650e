/** The tests of a table of bad plugins: the kit finds each one's fault by the check that is named for it, alone or among all others. */
import { CHECKS } from '@claimcheck/core/testkit'
import t from 'tap'
import { IS_THOROUGH, LONG } from '../../../test/support/extent.ts'
import { examine } from './cases.ts'
import { leftServers, leftTimers } from './requests.ts'
import type { BadPlugin } from './row.ts'
import type { Situation } from './tracker.ts'

const LONGEST_MS = 500_000
const USUAL: readonly Situation[] = ['closed']

export function catches(rows: readonly BadPlugin[]): void {
  t.setTimeout(LONGEST_MS)
  for (const [caughtBy, what, plugin, { situations = USUAL, way, takesLong } = {}] of rows) {
    t.test(`${caughtBy} catches a plugin that ${what}`, takesLong ? LONG : {}, async (t) => {
      const { ok, checks } = await examine(plugin(), situations, way, IS_THOROUGH ? undefined : [caughtBy])
      endLeft()
      t.notOk(ok)
      const failed = new Set(checks.filter(({ ok }) => !ok).map(({ name }) => name))
      t.ok(failed.has(caughtBy), [...failed].join())
      t.strictSame(
        [...failed].filter((name) => !Object.hasOwn(CHECKS, name)),
        [],
      )
    })
  }
}

function endLeft(): void {
  for (const timer of leftTimers.splice(0)) clearInterval(timer)
  for (const server of leftServers.splice(0)) server.close()
}
