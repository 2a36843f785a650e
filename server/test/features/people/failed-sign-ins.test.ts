/** A flood of sign-ins at no account fills no audit trail, and hides none at an account. */
import { recordFailedSignIn } from '@claimcheck/server/features/people/failed-sign-ins'
import type { NewAuditEntry } from '@claimcheck/server/storage/audit-trail'
import t from 'tap'
import { DIALECTS, newDatabase, opened } from '../../support/databases.ts'
import { NOON } from './people.ts'

const HOUR = 60 * 60_000

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}: after ten at no account, each tenfold in an hour is one entry`, async (t) => {
    const storage = await opened(t, await newDatabase(t, dialect))
    const fail = (userId: string | null, at: number) =>
      storage.write(async (tx) => {
        const by = { actor: { kind: 'nobody', id: null }, address: '192.0.2.1' } as const
        const entry: NewAuditEntry = { event: 'sign_in.failed', at, by, userId, details: { method: 'password' } }
        await recordFailedSignIn(tx, entry)
        return tx.audit.entries().map(({ details }) => details?.refused_in_this_hour ?? 'each')
      })
    const found = []
    for (let index = 0; index < 105; index++) found.push(...(await fail(null, NOON + index)))
    t.strictSame(found, [...Array(10).fill('each'), 100])
    t.strictSame(await fail('usr_ann', NOON + 106), ['each'], 'one at an account is always an entry')
    t.strictSame(await fail(null, NOON + 107), [])
    t.strictSame(await fail(null, NOON + HOUR), ['each'], 'the next hour begins anew')
  })
}
