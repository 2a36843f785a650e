import { join } from 'node:path'
import { ConfigError, pluginProcesses } from '@claimcheck/server/config/config'
import { describeDatabase, serversInClear } from '@claimcheck/server/config/database-url'
import { loadConfig } from '@claimcheck/server/features'
import t, { type Test } from 'tap'

const SECRET_KEY = 'ab'.repeat(32)

function problems(t: Test, env: Record<string, string>, file?: string): readonly string[] {
  return problemsIn(t.testdir(file === undefined ? {} : { 'claimcheck.config.json': file }), env)
}

function problemsIn(folder: string, env: Record<string, string>): readonly string[] {
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
    secretKeysAlso: [],
    signer: undefined,
    trustProxy: 0,
    logLevel: 'info',
    allowPrivate: [],
    plugins: [],
    rateLimits: { network: 8_000, key: 12_000, workspace: 24_000, account: 48_000, refusals: 30 },
    oidcSignIn: undefined,
    retention: { byOwners: true, leastDays: 30 },
    checks: { closingMs: 30_000, graceMs: 120_000, timeoutMs: 10_000, firstAnswerMs: 5000 },
    issuerName: undefined,
    verifierPackage: undefined,
    securityContact: undefined,
  })
})

t.test('each variable and each member of the file is taken', async (t) => {
  const file = {
    plugins: [{ use: './mine.js', with: { a: 1 } }],
    signer: { use: './signer.js' },
    rate_limits: { key: 0, network: 7 },
    connections: { per_address: 8 },
    retention: { by_owners: false, least_days: 7 },
    checks: { closing_ms: 1, grace_ms: 2, timeout_ms: 3, first_answer_ms: 4, concurrency: 5 },
    audit_trail: { retention_days: 400 },
    allow_private: [' 127.0.0.1:8081'],
    issuer_name: 'Example',
    verifier_package: '@example/claimcheck-cli@1.0.0',
    security_contact: 'mailto:security@example.com',
  }
  const folder = t.testdir({ elsewhere: { 'mine.json': JSON.stringify(file) } })
  const env = {
    HOST: '::1',
    PORT: '0',
    PUBLIC_URL: 'https://claims.example.com/',
    DATABASE_URL: 'sqlite:other.db',
    DATA_DIR: 'kept',
    SECRET_KEY,
    TRUST_PROXY: 'loopback, 10.0.0.0/8',
    METRICS_LISTEN: '[::1]:9464',
    METRICS_TOKEN: 'm'.repeat(16),
    LOG_LEVEL: 'debug',
    ALLOW_PRIVATE: 'Git.internal:03000, [0:0::1] ,10.0.0.7,127.1:80',
    CONFIG: 'elsewhere/mine.json',
  }
  const config = loadConfig(env, folder)
  t.match(config, {
    host: '::1',
    port: 0,
    publicUrl: 'https://claims.example.com',
    databaseUrl: `sqlite:${join(folder, 'other.db')}`,
    dataDir: join(folder, 'kept'),
    trustProxy: ['loopback', '10.0.0.0/8'],
    metrics: { listen: { host: '::1', port: 9464 }, token: 'm'.repeat(16) },
    logLevel: 'debug',
    signer: { use: './signer.js', with: {}, trusted: true },
    allowPrivate: ['git.internal:3000', '[::1]', '10.0.0.7', '127.0.0.1:80', '127.0.0.1:8081'],
    pluginDir: join(folder, 'elsewhere'),
    plugins: [{ use: './mine.js', with: { a: 1 } }],
    rateLimits: { key: 0, network: 7, workspace: 24_000, account: 48_000, refusals: 30 },
    connections: { most: 10_000, perAddress: 8 },
    retention: { byOwners: false, leastDays: 7 },
    auditTrail: { retentionDays: 400 },
    checks: { closingMs: 1, graceMs: 2, timeoutMs: 3, firstAnswerMs: 4, concurrency: 5 },
    issuerName: 'Example',
    verifierPackage: '@example/claimcheck-cli@1.0.0',
    securityContact: 'mailto:security@example.com',
  })
  t.equal(config.secretKey?.length, 32)
})

t.test('a secret key is the same in hex and in either base64', async (t) => {
  const key = Buffer.alloc(32, 0xfb)
  for (const encoding of ['hex', 'base64', 'base64url'] as const) {
    t.same(loadConfig({ SECRET_KEY: key.toString(encoding) }, t.testdir()).secretKey, key, encoding)
  }
})

t.test('other keys that open are told apart by commas', async (t) => {
  const [one, two, three] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte)) as [Buffer, Buffer, Buffer]
  const env = {
    SECRET_KEY: one.toString('hex'),
    SECRET_KEY_ALSO: `${two.toString('hex')}, ${three.toString('base64')},`,
  }
  const { secretKey, secretKeysAlso } = loadConfig(env, t.testdir())
  t.same([secretKey, ...secretKeysAlso], [one, two, three])
})

t.test('a secret is read from the file that its variable names', async (t) => {
  const folder = t.testdir({ key: `${'ab'.repeat(32)}\n`, token: 'metrics-token-of-a-file', empty: '\n' })
  const config = loadConfig({ SECRET_KEY_FILE: join(folder, 'key'), METRICS_TOKEN_FILE: 'token' }, folder)
  t.equal(config.secretKey?.toString('hex'), 'ab'.repeat(32))
  t.equal(config.metrics?.token, 'metrics-token-of-a-file')
  const refused = (env: Record<string, string>) => problemsIn(folder, env)
  t.strictSame(refused({ SECRET_KEY_FILE: 'nowhere' }), ['SECRET_KEY_FILE: cannot read nowhere: ENOENT'])
  t.strictSame(refused({ SMTP_URL_FILE: 'empty' }), ['SMTP_URL_FILE: empty is empty'])
  const both = { SECRET_KEY: 'cd'.repeat(32), SECRET_KEY_FILE: 'key' }
  t.strictSame(refused(both), ['SECRET_KEY_FILE: SECRET_KEY is set, too: remove one of them'])
})

t.test('a Postgres database is taken by either name of the scheme, with the parameters of its driver', async (t) => {
  for (const [text, url] of [
    ['postgres://host/db', 'postgres://host/db'],
    ['postgresql://u:p%40ss@[::1]:5433/db?sslmode=require', 'postgres://u:p%40ss@[::1]:5433/db?sslmode=require'],
    ['postgres:///db?host=/run/postgresql&user=u', 'postgres:///db?host=/run/postgresql&user=u'],
    ['postgres://u@a:5432,[::1]/db?target_session_attrs=any', 'postgres://u@a:5432,[::1]/db?target_session_attrs=any'],
  ] as const) {
    t.equal(loadConfig({ DATABASE_URL: text, SECRET_KEY }, t.testdir()).databaseUrl, url, text)
  }
})

t.test('people are shown a database without its password', async (t) => {
  for (const [url, shown] of [
    ['sqlite:/data/claimcheck.db', 'sqlite:/data/claimcheck.db'],
    ['postgres://u:secret@host:5433/db', 'postgres://u:***@host:5433/db'],
    ['postgres://u@host/db?password=secret&sslmode=require', 'postgres://u@host/db'],
    ['postgres:///db?host=/run/postgresql&user=u&password=secret', 'postgres:///db'],
    ['postgres://u:se:cret@a:5432,b/db', 'postgres://u:***@a:5432,b/db'],
  ] as const) {
    t.equal(describeDatabase(url), shown)
  }
})

t.test('what a URL of Postgres asks for is checked before anything connects', async (t) => {
  const folder = t.testdir({ password: 'secret' })
  const env = { SECRET_KEY }
  for (const [url, problem] of [
    ['postgres://u:p@a,:5433/db', 'must be like postgres://user:password@host/database'],
    ['postgres:///db?host=a,b', 'write several hosts before the database'],
    ['postgres://a/db?target_session_attrs=writable', 'target_session_attrs must be one of any, read-write'],
    ['postgres://a/db?sslmode=prefer', 'sslmode must be one of disable, require, verify-ca, verify-full, not prefer'],
    ['postgres://a/db?sslmode=verify-ca', 'sslmode=verify-ca needs sslrootcert'],
    ['postgres://a/db?sslrootcert=/nowhere/ca.crt', 'sslrootcert: cannot read /nowhere/ca.crt'],
    ['postgres://a/db?uselibpqcompat=true&sslmode=require', 'leave uselibpqcompat out'],
  ] as const) {
    t.throws(() => loadConfig({ ...env, DATABASE_URL: url }, folder), { message: `DATABASE_URL: ${problem}` }, url)
  }
  const file = { DATABASE_PASSWORD_FILE: 'password' }
  const path = encodeURIComponent(join(folder, 'password'))
  for (const [given, url] of [
    ['postgres://u@a/db', `postgres://u@a/db?password_file=${path}`],
    ['postgres://u@a,b/db?sslmode=require', `postgres://u@a,b/db?password_file=${path}&sslmode=require`],
    ['sqlite:/a.db', 'sqlite:/a.db'],
  ] as const)
    t.equal(loadConfig({ ...env, ...file, DATABASE_URL: given }, folder).databaseUrl, url)
  for (const url of [
    'postgres://u:p@a/db',
    'postgres://u@a/db?password=p',
    'postgres://u@a/db?sslmode=require&password=p',
  ])
    t.throws(() => loadConfig({ ...env, ...file, DATABASE_URL: url }, folder), {
      message: 'DATABASE_PASSWORD_FILE: DATABASE_URL has a password, too',
    })
  const missing = { ...env, DATABASE_PASSWORD_FILE: 'nowhere', DATABASE_URL: 'postgres://u@a/db' }
  t.throws(() => loadConfig(missing, folder), { message: 'DATABASE_PASSWORD_FILE: cannot read' })
})

t.test('connections without TLS to other machines are found', async (t) => {
  const found = (databaseUrl: string, databaseReadUrl?: string) => serversInClear({ databaseUrl, databaseReadUrl })
  for (const url of [
    'sqlite:/a.db',
    'postgres://u@127.0.0.1,localhost,[::1]:5433/db',
    'postgres:///db?host=/run/postgresql',
    'postgres://a/db?sslmode=verify-full',
    'postgres://a/db?sslmode=disable',
  ])
    t.strictSame(found(url), [], url)
  t.strictSame(found('postgres://u:p@127.0.0.1,a:5433/db', 'postgres://b/db'), ['a:5433', 'b'])
  t.strictSame(found('postgres:///db?host=a'), ['a'])
})

t.test('a replica is read beside a Postgres database alone', async (t) => {
  const env = { SECRET_KEY, DATABASE_READ_URL: 'postgres://replica/db' }
  const { databaseReadUrl } = loadConfig({ ...env, DATABASE_URL: 'postgres://a/db' }, t.testdir())
  t.equal(databaseReadUrl, 'postgres://replica/db')
  t.throws(() => loadConfig(env, t.testdir()), { message: 'DATABASE_READ_URL: must be a replica of DATABASE_URL' })
  const wrong = { ...env, DATABASE_URL: 'postgres://a/db', DATABASE_READ_URL: 'postgres://replica' }
  t.throws(() => loadConfig(wrong, t.testdir()), { message: 'DATABASE_READ_URL: must be like postgres://' })
})

t.test('proxies are believed as they are named', async (t) => {
  for (const [text, trust] of [
    ['', 0],
    ['off', 0],
    ['No', 0],
    ['1', 1],
    ['16', 16],
    ['10.0.0.0/8, fd00::/8', ['10.0.0.0/8', 'fd00::/8']],
    ['::1,loopback', ['::1', 'loopback']],
  ] as const) {
    t.same(loadConfig({ TRUST_PROXY: text }, t.testdir()).trustProxy, trust, text)
  }
})

t.test('a variable that is empty is one that is not set', async (t) => {
  const names =
    'HOST PORT PUBLIC_URL DATABASE_URL DATA_DIR SECRET_KEY SECRET_KEY_ALSO TRUST_PROXY LOG_LEVEL CONFIG ALLOW_PRIVATE'.split(
      ' ',
    )
  const folder = t.testdir()
  t.same(loadConfig(Object.fromEntries(names.map((name) => [name, ''])), folder), loadConfig({}, folder))
})

/** Given are variables, or the text of the file. */
const bad: readonly (readonly [name: string, given: Record<string, string> | string, ...named: RegExp[]])[] = [
  ['a port that is none', { PORT: 'http' }, /^PORT/],
  ['a port beyond the last', { PORT: '65536' }, /^PORT/],
  ['a public address with a user', { PUBLIC_URL: 'https://u:p@example.com' }, /^PUBLIC_URL/],
  ['a public address with a password alone', { PUBLIC_URL: 'https://:u:p@example.com' }, /^PUBLIC_URL/],
  ['a public address that is no URL', { PUBLIC_URL: 'u:p@' }, /^PUBLIC_URL/],
  ['a public address with a query', { PUBLIC_URL: 'https://example.com/?a' }, /^PUBLIC_URL/],
  ['a database of no kind', { DATABASE_URL: 'u:p@host/db' }, /^DATABASE_URL/],
  ['a database named like what objects inherit', { DATABASE_URL: 'constructor:x' }, /^DATABASE_URL/],
  ['a database without a file', { DATABASE_URL: 'sqlite:' }, /^DATABASE_URL/],
  ['a database of another kind', { DATABASE_URL: 'mysql://u:p@host/db' }, /^DATABASE_URL/],
  ['a database in memory', { DATABASE_URL: 'sqlite::memory:' }, /^DATABASE_URL/],
  ['a Postgres database without a secret key', { DATABASE_URL: 'postgres://u:p@host/db' }, /^SECRET_KEY/],
  ['a Postgres database without a name', { DATABASE_URL: 'postgres://u:p@host', SECRET_KEY }, /^DATABASE_URL/],
  ['a Postgres database without a host', { DATABASE_URL: 'postgres:///db?password=u:p@', SECRET_KEY }, /^DATABASE_URL/],
  [
    'a Postgres database whose address is none, without a secret key',
    { DATABASE_URL: 'postgresql://u:p@host:port/db' },
    /^DATABASE_URL/,
    /^SECRET_KEY/,
  ],
  ['a short secret key', { SECRET_KEY: 'c2hvcnQ=' }, /^SECRET_KEY/],
  ['a secret key with a character mistyped', { SECRET_KEY: `${'ab'.repeat(31)}ag` }, /^SECRET_KEY/],
  ['a secret key that is a sentence', { SECRET_KEY: `u:p@${'!'.repeat(39)}` }, /^SECRET_KEY/],
  ['other keys without a secret key', { SECRET_KEY_ALSO: 'ab'.repeat(32) }, /^SECRET_KEY_ALSO/],
  ['another key that is none', { SECRET_KEY, SECRET_KEY_ALSO: `${'cd'.repeat(32)},u:p@` }, /^SECRET_KEY_ALSO.*2/],
  ['another key that is the same', { SECRET_KEY, SECRET_KEY_ALSO: 'AB'.repeat(32) }, /^SECRET_KEY_ALSO.*1/],
  ['a signer that is trusted, as each is', '{"signer":{"use":"a","trusted":true}}', /signer/],
  ['a signer without a plugin', '{"signer":{"with":{}}}', /signer\.use/],
  ['a network that is too narrow', { TRUST_PROXY: '10.0.0.0/33' }, /^TRUST_PROXY/],
  ['a network of nothing', { TRUST_PROXY: '10.0.0.1,,' }, /^TRUST_PROXY/],
  ['a proxy that is no address', { TRUST_PROXY: 'proxy.example' }, /^TRUST_PROXY/],
  ['every proxy', { TRUST_PROXY: 'on' }, /^TRUST_PROXY: on would believe any .*: write off, the number/],
  ['every proxy, in another word', { TRUST_PROXY: 'True' }, /^TRUST_PROXY: True would believe/],
  ['metrics at a port alone', { METRICS_LISTEN: '9464' }, /^METRICS_LISTEN/],
  ['metrics at no port', { METRICS_LISTEN: 'localhost:65536' }, /^METRICS_LISTEN/],
  ['a token for metrics that is short', { METRICS_TOKEN: 'u:p@' }, /^METRICS_TOKEN/],
  ['no number of proxies', { TRUST_PROXY: '0' }, /^TRUST_PROXY: write off/],
  ['too many proxies', { TRUST_PROXY: '17' }, /^TRUST_PROXY/],
  ['proxies of all addresses', { TRUST_PROXY: '0.0.0.0/0' }, /^TRUST_PROXY/],
  ['proxies of all IPv6 addresses', { TRUST_PROXY: '10.0.0.1, ::/0' }, /^TRUST_PROXY/],
  ['an allowed entry that is an address of a page', { ALLOW_PRIVATE: 'http://host/' }, /^ALLOW_PRIVATE/],
  ['an allowed entry with a password', { ALLOW_PRIVATE: 'good.example,u:p@host' }, /^ALLOW_PRIVATE.*2/],
  ['an allowed port that is none', { ALLOW_PRIVATE: 'host:65536' }, /^ALLOW_PRIVATE/],
  ['an allowed IPv6 address without brackets', { ALLOW_PRIVATE: '::1' }, /^ALLOW_PRIVATE/],
  ['an allowed address that is none', { ALLOW_PRIVATE: '[::1::]' }, /^ALLOW_PRIVATE/],
  ['a level that is none', { LOG_LEVEL: 'loud' }, /^LOG_LEVEL/],
  ['a file that is not there', { CONFIG: 'missing.json' }, /^CONFIG.*missing\.json/],
  ['a file that is not JSON', '{', /not JSON/],
  [
    'a file with a slip behind a secret',
    '{"plugins": [{"use": "a", "with": {"token": "u:p@x" "b"',
    /not JSON.*line 1$/,
  ],
  ['a file that says something twice', '{\n"issuer_name": "a",\n"issuer_name": "b"}', /duplicate.*line 3$/],
  ['a file that is a list', '[]', /file/],
  ['a member that is unknown', '{"plugin": []}', /plugin/],
  ['a trail that is kept for no day', '{"audit_trail": {"retention_days": 0}}', /audit_trail\.retention_days/],
  ['a private host with a path', '{"allow_private": ["ok.example", "u:p@x/y"]}', /allow_private: entry 2(?!.*u:p)/],
  ['a package with a range', '{"verifier_package": "@a/b@^1.0.0"}', /verifier_package.*exact version/],
  ['a package that is an option', '{"verifier_package": "--yes"}', /verifier_package/],
  ['a package with a command', '{"verifier_package": "a; rm"}', /verifier_package/],
  ['a contact that is no address', '{"security_contact": "security@example.com"}', /security_contact.*mailto:/],
  ['a contact without https', '{"security_contact": "http://example.com"}', /security_contact/],
  ['a contact of two lines', '{"security_contact": "tel:1\\nExpires: 2"}', /security_contact/],
  ['a plugin without a name', '{"plugins": [{"with": {}}]}', /plugins\.0\.use/],
]
for (const [name, given, ...named] of bad) {
  t.test(`${name} is refused by name`, async (t) => {
    const found = typeof given === 'string' ? problems(t, {}, given) : problems(t, given)
    t.equal(found.length, named.length, found.join('\n'))
    for (const pattern of named)
      t.ok(
        found.some((problem) => pattern.test(problem)),
        String(pattern),
      )
    t.notOk(found.join().includes('u:p@'), 'without what may be a password')
  })
}

t.test('all mistakes are told at once', async (t) => {
  const found = problems(t, { PORT: 'x', LOG_LEVEL: 'y' }, '{"checks": {"timeout_ms": 0, "grace": 1}}')
  t.equal(found.length, 4)
  for (const name of ['PORT', 'LOG_LEVEL', 'timeout_ms', 'grace']) t.match(found.join('\n'), name)
})

t.test('an outside provider is taken from the file, and its secret from there or from a file beside it', async (t) => {
  const oidc = { issuer: 'https://id.example.com', client_id: 'claimcheck', name: 'Example' }
  const taken = (given: object, env = {}) => {
    const file = JSON.stringify({ sign_in: { oidc: { ...oidc, ...given } } })
    return loadConfig(env, t.testdir({ 'claimcheck.config.json': file, secret: ' kept elsewhere\n' })).oidcSignIn
  }
  const expected = { issuer: oidc.issuer, clientId: 'claimcheck', clientSecret: 'here', name: 'Example' }
  t.strictSame(taken({ client_secret: 'here' }), expected)
  t.strictSame(taken({ client_secret_file: 'secret' }), { ...expected, clientSecret: 'kept elsewhere' })
  const issuer = 'http://127.0.0.1:9000'
  t.match(taken({ client_secret: 'here', issuer }, { ALLOW_PRIVATE: '127.0.0.1:9000' }), { issuer })
})

t.test('every problem of an outside provider is told, and no secret', async (t) => {
  const sound = { issuer: 'https://id.example.com', client_id: 'claimcheck', client_secret: 'hush', name: 'Example' }
  const rows: readonly (readonly [object, readonly RegExp[]])[] = [
    [{ issuer: 'http://id.example.com' }, [/sign_in\.oidc\.issuer/]],
    [{ issuer: 'http://127.0.0.1:9000' }, [/sign_in\.oidc\.issuer/]],
    [{ issuer: 'https://id.example.com/?a=b' }, [/sign_in\.oidc\.issuer/]],
    [{ issuer: 'https://user:pass@id.example.com' }, [/sign_in\.oidc\.issuer/]],
    [{ issuer: 'nowhere' }, [/sign_in\.oidc\.issuer/]],
    [{ client_secret_file: 'secret' }, [/sign_in\.oidc\.client_secret: /]],
    [{ client_secret: undefined }, [/sign_in\.oidc\.client_secret: /]],
    [{ client_secret: undefined, client_secret_file: 'none' }, [/client_secret_file: .*ENOENT/]],
    [{ issuer: 'nowhere', client_secret: undefined }, [/issuer/, /client_secret/]],
    [{ scope: 'all' }, [/sign_in\.oidc\.scope/]],
    [{ name: '' }, [/sign_in\.oidc\.name/]],
  ]
  for (const [change, expected] of rows) {
    const found = problems(t, {}, JSON.stringify({ sign_in: { oidc: { ...sound, ...change } } }))
    t.match(found, expected)
    t.equal(found.length, expected.length)
    t.notMatch(found.join(), /hush/)
  }
})

t.test('sessions end after a day without a request and after two weeks, or when the file says', async (t) => {
  const HOUR_MS = 60 * 60_000
  const ends = (sign_in: object) => {
    const folder = t.testdir({ 'claimcheck.config.json': JSON.stringify({ sign_in }) })
    return loadConfig({}, folder).sessionEnds
  }
  t.strictSame(ends({}), { idleMs: 24 * HOUR_MS, longestMs: 14 * 24 * HOUR_MS })
  t.strictSame(ends({ session_idle_hours: 1, session_days: 1 }), { idleMs: HOUR_MS, longestMs: 24 * HOUR_MS })
  const rows: readonly (readonly [object, RegExp])[] = [
    [{ session_idle_hours: 48, session_days: 1 }, /sign_in\.session_idle_hours: 48 hours are longer than session_days/],
    [{ session_idle_hours: 0 }, /sign_in\.session_idle_hours/],
    [{ session_days: 366 }, /sign_in\.session_days/],
    [{ session_days: 1.5 }, /sign_in\.session_days/],
  ]
  for (const [sign_in, expected] of rows) {
    t.match(problems(t, {}, JSON.stringify({ sign_in })), [expected], JSON.stringify(sign_in))
  }
})

t.test('processes of plugins by default take a quarter of the memory, and places for as many', (t) => {
  const GIB = 1024
  t.strictSame(pluginProcesses(undefined, 1, 2 * GIB), { most: 32, memoryMib: 1024 })
  t.strictSame(pluginProcesses({}, 1, 16 * GIB), { most: 128, memoryMib: 4096 })
  t.strictSame(pluginProcesses({}, 2, 1024 * GIB), { most: 256, memoryMib: 256 * GIB })
  t.strictSame(pluginProcesses({}, 4, 16 * GIB), { most: 64, memoryMib: 2048 }, 'all of them take half of it')
  t.strictSame(pluginProcesses({ memory_mib: 100 }, 1, 16 * GIB), { most: 4, memoryMib: 100 })
  t.strictSame(pluginProcesses({ most: 3 }, 1, 2 * GIB), { most: 3, memoryMib: 1024 })
  t.end()
})
