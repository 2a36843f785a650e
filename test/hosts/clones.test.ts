// Test run: end-to-end, slow
/** Which rows of hosts a copied DATA_DIR and commands make. Threat O6 of `security.md`. */
import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import { runClaimcheck } from '../support/command.ts'
import { newFolder } from '../support/copies.ts'
import { createDatabase } from '../support/database.ts'
import { Installation } from '../support/installation.ts'
import { query } from '../support/sql.ts'

t.test('of two hosts with copies of one DATA_DIR, one takes an id of its own, and both sign', async (t) => {
  const installation = await Installation.during(t, { database: await createDatabase('postgres') })
  const client = await installation.client('acme')
  t.equal((await client.submit()).body.state, 'decided')
  const { dataDir, databaseUrl } = installation.config
  const idIn = (folder: string) => readFileSync(join(folder, 'host-id'), 'utf8')
  const rows = () => query(databaseUrl, 'SELECT host_id, process FROM log_hosts ORDER BY host_id')
  const before = idIn(dataDir)
  cpSync(dataDir, `${dataDir}-copy`, { recursive: true })
  const copy = await installation.addHost({ DATA_DIR: `${dataDir}-copy` })
  for (const end = Date.now() + 20_000; idIn(dataDir) === idIn(`${dataDir}-copy`); await setTimeout(100))
    if (Date.now() > end) throw new Error('both have one id')
  for (const end = Date.now() + 10_000; (await rows()).length < 2; await setTimeout(100))
    if (Date.now() > end) throw new Error('one has no row')
  const ids = [idIn(dataDir), idIn(`${dataDir}-copy`)]
  t.ok(ids.includes(before), 'one stays what it was')
  t.strictSame(
    (await rows()).map(({ host_id }) => host_id),
    ids.toSorted(),
  )
  t.equal(new Set((await rows()).map(({ process }) => process)).size, 2)
  for (const host of [installation.host, copy]) {
    for (const end = Date.now() + 15_000; (await host.request('/readyz')).status !== 200; await setTimeout(100))
      if (Date.now() > end) throw new Error('not ready')
    t.equal((await client.at(host).submit()).body.state, 'decided')
  }
  t.strictSame([idIn(dataDir), idIn(`${dataDir}-copy`)], ids, 'no second time')

  // What a command leaves.
  const own = await rows()
  const { env } = installation
  const command = (dir: string) =>
    runClaimcheck(installation.folder, ['log', 'reopen', '--yes'], { ...env, DATABASE_URL: databaseUrl, DATA_DIR: dir })
  t.match(await command(dataDir), { code: 1, stderr: /no last backup or copy of the log is under way/ })
  t.strictSame(await rows(), own, 'beside its host, nothing')
  t.match(await command(newFolder(t)), { code: 1 })
  t.strictSame(
    (await rows()).filter(({ host_id }) => !ids.includes(String(host_id))).map(({ process }) => process),
    ['command'],
  )
})
