/** Accounts from before inviters were stored are placed below whoever invited them. */
import { join } from 'node:path'
import { byUser } from '@claimcheck/server/base/actor'
import t from 'tap'
import { createDatabase, DIALECTS } from '../../../../test/support/database.ts'
import { query } from '../../../../test/support/sql.ts'
import { openStorage } from '../../../../test/support/storage.ts'
import { first, newUser, openPeople } from './people.ts'

const MIGRATION = '016-inviters'
const FOLDER = t.testdir()

for (const dialect of DIALECTS) {
  t.test(`on ${dialect} an account goes below who invited it, as far as the database tells`, async (t) => {
    const database = await createDatabase(dialect)
    t.teardown(() => database.remove())
    const url = dialect === 'sqlite' ? `sqlite:${join(FOLDER, 'claimcheck.db')}` : database.env.DATABASE_URL!
    const people = await openPeople(t, { storage: await openStorage({ databaseUrl: url }) })
    const { accounts, allowances, members } = people
    const ann = await first(people)
    const invited = async (name: string, by: string, workspaceId = ann.workspaceId) => {
      const token = await accounts.inviteToken(workspaceId, 'owner', by)
      people.clock.now += 100_000
      return (await accounts.join(token, newUser(name))).user
    }
    const bob = await invited('bob', ann.userId)
    const cyn = await invited('cyn', bob.id)
    const dan = await invited('dan', cyn.id)
    const eve = await invited('eve', ann.userId)
    const chosen = await invited('chosen', bob.id)
    await allowances.separate('chosen@example.com')
    await allowances.share('chosen@example.com', 'ann@example.com')
    const apart = await invited('apart', bob.id)
    const apartAt = people.clock.now
    const { id: other } = await members.createWorkspace(bob.id, 'other')
    // Someone who joined with an account that was there before was invited to the workspace alone.
    await accounts.join(await accounts.inviteToken(other, 'owner', bob.id), { user: eve })
    const fay = await invited('fay', eve.id, other)
    const gone = (await members.list(ann.workspaceId)).find(({ userId }) => userId === dan.id)!
    await members.remove(ann.workspaceId, gone.id, byUser(ann.userId, '192.0.2.1'))
    await people.storage.close()

    const flat = [bob, cyn, dan, eve, chosen, apart, fay].map(({ id }) => `'${id}'`)
    await query(url, `UPDATE users SET shares_with = '${ann.userId}' WHERE id IN (${flat})`)
    // Nothing tells who invited it.
    await query(url, `DELETE FROM links WHERE used_at >= ${apartAt} AND used_at < ${apartAt + 1000}`)
    // One who joined after inviters were stored stands below an account that is placed now.
    await query(url, `UPDATE users SET shares_with = '${ann.userId}/${dan.id}' WHERE id = '${fay.id}'`)
    await query(url, `DELETE FROM migrations WHERE name = '${MIGRATION}'`)

    const storage = await openStorage({ databaseUrl: url })
    t.teardown(() => storage.close())
    t.strictSame(storage.migrated, [MIGRATION])
    const above = Object.fromEntries(
      (await storage.read.users.list()).map(({ name, sharesWith }) => [name, sharesWith]),
    )
    t.strictSame(above, {
      ann: null,
      bob: ann.userId,
      cyn: `${ann.userId}/${bob.id}`,
      dan: `${ann.userId}/${bob.id}/${cyn.id}`,
      eve: ann.userId,
      chosen: ann.userId,
      apart: ann.userId,
      fay: `${ann.userId}/${bob.id}/${cyn.id}/${dan.id}`,
    })
  })
}
