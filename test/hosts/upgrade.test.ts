// Test run: end-to-end, slow
/** The next version migrates the database under the hosts of this one: they go on, and do not start on it any more. */
import { diagnose } from '@claimcheck/server/features/maintenance/doctor'
import { openStorage } from '@claimcheck/server/storage/open'
import type { Schema } from '@claimcheck/server/storage/schema'
import t from 'tap'
import { createDatabase } from '../support/database.ts'
import { Installation } from '../support/installation.ts'
import { SCHEMA } from '../support/storage.ts'

const NEXT = '9999-next-version'
const CLAIMS = 30
const NEXT_SCHEMA: Schema = {
  ...SCHEMA,
  migrations: {
    ...SCHEMA.migrations,
    [NEXT]: { up: (db) => db.schema.alterTable('claims', (table) => table.text('next_version')) },
  },
}

t.test('two hosts take claims while the database is migrated, and an older program refuses it by name', async (t) => {
  const installation = await Installation.during(t, { database: await createDatabase('postgres') })
  const second = await installation.addHost()
  const first = await installation.client('acme')
  const hosts = [first, first.at(second)]
  const submitted = Array.from({ length: CLAIMS }, (_, number) => hosts[number % 2]!.submit())
  const migrating = openStorage(installation.config, { schema: NEXT_SCHEMA })
  submitted.push(...Array.from({ length: CLAIMS }, (_, number) => hosts[number % 2]!.submit()))
  const next = await migrating
  t.teardown(() => next.close())
  t.strictSame(next.migrated, [NEXT])
  submitted.push(...hosts.map((client) => client.submit()))

  const answers = await Promise.all(submitted)
  for (const { status } of answers) t.equal(status, 202)
  for (const { body } of answers) t.match(await first.decided(body.claim_id), { verdict: 'verified' })
  await t.rejects(openStorage(installation.config, { schema: SCHEMA }), {
    code: 'newer_schema',
    message: new RegExp(`from a newer version of Claimcheck \\(it has ${NEXT}\\): run that version or a later one`),
  })
  const { problems, leaves } = await diagnose(next, { schema: NEXT_SCHEMA })
  t.strictSame({ problems, leaves }, { problems: [], leaves: answers.length })
})
