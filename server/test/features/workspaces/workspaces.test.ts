import { join } from 'node:path'
import { createWorkspaceService } from '@claimcheck/server/features/workspaces/workspaces'
import t from 'tap'
import { openSqlite } from '../../../../test/support/storage.ts'

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
