import { join } from 'node:path'
import { byUser } from '@claimcheck/server/base/actor'
import { MOST_TAKEN } from '@claimcheck/server/features/workspaces/guesses'
import { createWorkspaceService } from '@claimcheck/server/features/workspaces/workspaces'
import t from 'tap'
import { openSqlite } from '../../../../test/support/storage.ts'
import { DIALECTS, newDatabase, opened } from '../../support/databases.ts'
import { NOON } from '../people/people.ts'

t.test('a workspace is found by its id and its name, which nobody else can take', async (t) => {
  const storage = await openSqlite(join(t.testdir(), 'claimcheck.db'))
  t.teardown(() => storage.close())
  const workspaces = createWorkspaceService({ storage, now: Date.now })
  const workspace = await workspaces.create('acme')
  t.match(await workspaces.find('acme'), { id: workspace.id })
  t.match(await workspaces.find(workspace.id), { name: 'acme' })
  await t.rejects(workspaces.find('nobody'), { code: 'not_found' })
  await t.rejects(workspaces.create('acme'), { code: 'conflict' })
  for (const name of ['', ' a', '-a', 'ws_a', workspace.id, 'a\n', 'a/b', 'x'.repeat(65), '\u0000']) {
    await t.rejects(workspaces.create(name), { code: 'bad_request' }, JSON.stringify(name))
  }
  for (const name of ['x'.repeat(64), 'Größe 1', '工作', 'a.b-c_d']) await workspaces.create(name)
})

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}: a person who tries names learns of some a day which are taken`, async (t) => {
    const storage = await opened(t, await newDatabase(t, dialect))
    let at = NOON
    const workspaces = createWorkspaceService({ storage, now: () => at })
    const own = await workspaces.create('own')
    await workspaces.create('acme')
    const rename = (name: string, userId = 'usr_ann') => workspaces.rename(own.id, name, byUser(userId, '192.0.2.1'))
    for (let tries = 0; tries < MOST_TAKEN; tries++) {
      await rename(`own ${tries}`)
      await t.rejects(rename('acme'), { code: 'conflict' })
    }
    await t.rejects(rename('acme'), { code: 'too_many', retryAfterMs: 24 * 60 * 60_000 })
    await t.rejects(rename('free'), { code: 'too_many' }, 'nor which are free')
    await rename('free', 'usr_bob')
    const counted = await storage.read.db.query('SELECT subject FROM throttles', [])
    t.strictSame(counted, [{ subject: 'taken names by usr_ann' }], 'who guessed nothing is not counted')
    await t.rejects(workspaces.create('acme'), { code: 'conflict' }, 'the command line is told')
    at += 24 * 60 * 60_000
    await t.rejects(rename('acme'), { code: 'conflict' })
    await rename('own again')
  })
}
