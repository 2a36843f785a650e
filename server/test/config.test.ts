import { join } from 'node:path'
import { ConfigError, loadConfig } from '@claimcheck/server/config'
import t, { type Test } from 'tap'

function problems(t: Test, env: Record<string, string>, file?: string): readonly string[] {
  const folder = t.testdir(file === undefined ? {} : { 'claimcheck.config.json': file })
  try {
    loadConfig(env, folder)
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

t.test('the defaults run without any variable or file', async (t) => {
  const folder = t.testdir()
  t.match(loadConfig({}, folder), {
    host: '127.0.0.1',
    port: 8080,
    publicUrl: undefined,
    databaseUrl: `sqlite:${join(folder, 'data/claimcheck.db')}`,
    dataDir: join(folder, 'data'),
    secretKey: undefined,
    trustProxy: false,
    logLevel: 'info',
    allowPrivate: [],
    plugins: [],
    rateLimits: { key: 600, receipts: 120, log: 300, refusals: 30 },
    checks: { closingMs: 30_000, graceMs: 120_000, timeoutMs: 10_000, firstAnswerMs: 5000 },
    issuerName: undefined,
  })
})

t.test('each variable and each member of the file is taken', async (t) => {
  const file = {
    plugins: [{ use: './mine.js', with: { a: 1 } }],
    rate_limits: { key: 0, log: 7 },
    checks: { closing_ms: 1, grace_ms: 2, timeout_ms: 3, first_answer_ms: 4, concurrency: 5 },
    issuer_name: 'Example',
  }
  const folder = t.testdir({ elsewhere: { 'mine.json': JSON.stringify(file) } })
  const env = {
    HOST: '::1',
    PORT: '0',
    PUBLIC_URL: 'https://claims.example.com/',
    DATABASE_URL: 'sqlite:other.db',
    DATA_DIR: 'kept',
    SECRET_KEY: 'ab'.repeat(32),
    TRUST_PROXY: 'loopback, 10.0.0.0/8',
    LOG_LEVEL: 'debug',
    ALLOW_PRIVATE: 'git.internal:3000, [::1] ,10.0.0.7',
    CONFIG: 'elsewhere/mine.json',
  }
  const config = loadConfig(env, folder)
  t.match(config, {
    host: '::1',
    port: 0,
    publicUrl: 'https://claims.example.com',
    databaseUrl: `sqlite:${join(folder, 'other.db')}`,
    dataDir: join(folder, 'kept'),
    trustProxy: 'loopback, 10.0.0.0/8',
    logLevel: 'debug',
    allowPrivate: ['git.internal:3000', '[::1]', '10.0.0.7'],
    pluginDir: join(folder, 'elsewhere'),
    plugins: [{ use: './mine.js', with: { a: 1 } }],
    rateLimits: { key: 0, receipts: 120, log: 7, refusals: 30 },
    checks: { closingMs: 1, graceMs: 2, timeoutMs: 3, firstAnswerMs: 4, concurrency: 5 },
    issuerName: 'Example',
  })
  t.equal(config.secretKey?.length, 32)
})

const bad: [name: string, env: Record<string, string>, file: string | undefined, named: RegExp[]][] = [
  ['a port that is none', { PORT: 'http' }, undefined, [/^PORT/]],
  ['a port beyond the last', { PORT: '65536' }, undefined, [/^PORT/]],
  ['a public address with a user', { PUBLIC_URL: 'https://u:p@example.com' }, undefined, [/^PUBLIC_URL/]],
  ['a database of another kind', { DATABASE_URL: 'mysql://u:p@host/db' }, undefined, [/^DATABASE_URL/]],
  ['a database in memory', { DATABASE_URL: 'sqlite::memory:' }, undefined, [/^DATABASE_URL/]],
  ['a short secret key', { SECRET_KEY: 'c2hvcnQ=' }, undefined, [/^SECRET_KEY/]],
  ['a proxy that is no address', { TRUST_PROXY: '2' }, undefined, [/^TRUST_PROXY/]],
  ['an allowed entry that is an address of a page', { ALLOW_PRIVATE: 'http://host/' }, undefined, [/^ALLOW_PRIVATE/]],
  ['a level that is none', { LOG_LEVEL: 'loud' }, undefined, [/^LOG_LEVEL/]],
  ['a file that is not there', { CONFIG: 'missing.json' }, undefined, [/^CONFIG.*missing\.json/]],
  ['a file that is not JSON', {}, '{', [/not JSON/]],
  ['a file that is a list', {}, '[]', [/file/]],
  ['a member that is unknown', {}, '{"plugin": []}', [/plugin/]],
  ['a plugin without a name', {}, '{"plugins": [{"with": {}}]}', [/plugins\.0\.use/]],
  [
    'several at once',
    { PORT: 'x', LOG_LEVEL: 'y' },
    '{"checks": {"timeout_ms": 0, "grace": 1}}',
    [/PORT/, /LOG_LEVEL/, /timeout_ms/, /grace/],
  ],
]
for (const [name, env, file, named] of bad) {
  t.test(`${name} is refused by name`, async (t) => {
    const found = problems(t, env, file)
    t.equal(found.length, named.length, found.join('\n'))
    for (const pattern of named)
      t.ok(
        found.some((problem) => pattern.test(problem)),
        String(pattern),
      )
    t.notOk(found.join().includes('u:p@'), 'without what may be a password')
  })
}
