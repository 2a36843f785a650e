/** That what differs between databases is in the files of each: no other code asks which database it has. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'

const SERVER = resolve('server/src')

/** Where a database is named: in its own files, where the scheme of the URL is read and picks the file, in the list of documentation, where operators see its codes and settings, and where plugins read databases or are listed. */
const NAMED_IN = [
  'storage/sqlite.ts',
  'storage/sqlite-drivers.ts',
  'storage/node-sqlite.ts',
  'storage/node-sqlite-thread.ts',
  'storage/postgres.ts',
  'storage/postgres-pool.ts',
  'storage/postgres-servers.ts',
  'storage/open.ts',
  'config/database-url.ts',
  'features/site/docs/contents.ts',
  'features/site/docs/search-index.ts',
  'storage/use.ts',
  'features/log/durability-warnings.ts',
  'outbound/databases.ts',
  'plugins/problems.ts',
  'plugins/shelf-table.ts',
]

const COMMENT = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm
const NAME = /sqlite|postgres|\bpg\b|\bpg_|knex\/lib/i
/** Any comparison of a dialect, or of a part of it with a text. */
const BRANCH =
  /dialect(\.\w+)*\s*[!=]==?|[!=]==?\s*(\w+\.)*dialect\b|switch \((\w+\.)*dialect\b|\bclient\.(dialect|config)\b/

/** The lines of code in which a file asks for a database. */
function branches(file: string, text: string): string[] {
  const lines = text.replace(COMMENT, '').split('\n')
  return lines.filter((line) => BRANCH.test(line) || (NAME.test(line) && !NAMED_IN.includes(file)))
}

t.test('no code of the server asks which database it has', async (t) => {
  const files = readdirSync(SERVER, { recursive: true, encoding: 'utf8' }).filter((file) => /\.tsx?$/.test(file))
  t.ok(files.length > 100)
  for (const file of NAMED_IN) t.ok(files.includes(file), file)
  const found = files.flatMap((file) =>
    branches(file, readFileSync(join(SERVER, file), 'utf8')).map((line) => `${file}: ${line.trim()}`),
  )
  t.strictSame(found, [])
})

t.test('a branch is found, however it is written', async (t) => {
  const found = [
    `if (db.dialect === 'postgres') return`,
    `const lock = 'sqlite' !== storage.dialect ? 'FOR UPDATE' : ''`,
    `return dialect.name == name ? one : other`,
    `switch (db.dialect) {`,
    `const STATEMENTS = { sqlite: a, postgres: b }`,
    `if (isPostgresUrl(databaseUrl)) complain()`,
    `if (knex.client.dialect === kind) return`,
    `import { types } from 'pg'`,
    `db.query('SELECT pg_advisory_xact_lock(1)')`,
  ]
  for (const line of found) t.strictSame(branches('log/a.ts', line), [line])
  const passed = [
    '// Postgres plans this anew',
    '/** On SQLite there is one writer.\n * @see dialect === */',
    'db.dialect.forUpdate',
    'storage.shared ? createSealedKeys(options) : createKeyFiles(options)',
  ]
  for (const text of passed) t.strictSame(branches('log/a.ts', text), [])
  t.strictSame(branches('storage/sqlite.ts', `if (dialect === sqlite) return`), [`if (dialect === sqlite) return`])
})
