/** Migrations that have run somewhere never change: the next change of the schema is another migration. */
import { readFileSync } from 'node:fs'
import t from 'tap'
import { query } from '../../../test/support/sql.ts'
import { SCHEMA } from '../../../test/support/storage.ts'
import { DIALECTS, newDatabase, opened } from '../support/databases.ts'

const FILE = 'server/test/storage/migrations.json'

for (const dialect of DIALECTS) {
  t.test(`on ${dialect}, each migration runs the statements that it always ran`, async (t) => {
    const url = await newDatabase(t, dialect)
    await opened(t, url)
    const rows = await query(url, 'SELECT name, digest FROM migrations ORDER BY name')
    const stored = Object.fromEntries(rows.map(({ name, digest }) => [name, digest]))
    t.strictSame(
      stored,
      JSON.parse(readFileSync(FILE, 'utf8'))[dialect],
      `a migration changed, or is new: add a new one to ${FILE}, and leave the others as they are`,
    )
    t.equal(Object.keys(stored).length, Object.keys(SCHEMA.migrations).length)
  })
}
