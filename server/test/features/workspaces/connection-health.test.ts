/** What is said of a connection that the destination refused. */
import { failureOf } from '@claimcheck/server/features/workspaces/connection-health'
import t from 'tap'

const REFUSED = { state: 'refused', lastReadAt: 1, lastFailureAt: 2 } as const

for (const [lastFailure, said] of [
  ['unauthorized', 'unauthorized'],
  ['forbidden', 'forbidden'],
  ['timeout', 'refused'],
  [null, 'refused'],
] as const) {
  t.test(`refused, and the last failure is ${lastFailure}`, async (t) => {
    t.equal(failureOf({ ...REFUSED, lastFailure } as never), said)
  })
}
