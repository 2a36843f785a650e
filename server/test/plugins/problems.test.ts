/** Each way in which a plugin can be wrong by what it says of itself has a row. The modules that export it are in `plugins.test.ts`. */

import { type Plugin, Type } from '@claimcheck/core/plugin'
import { definitionProblems, optionsProblems, partsProblems } from '@claimcheck/server/plugins/problems'
import t from 'tap'
import { profile, words } from '../support/profile.ts'

const plugin = { name: 'good', api: 3, manifest: { hosts: [] }, options: Type.Object({}), setup() {} }
const verifier = { profile, providers: ['one'], anonymousSource() {}, check() {} }
const connection = {
  provider: 'one',
  title: 'One',
  help: 'None.',
  options: Type.Object({ a: Type.Optional(Type.String()) }),
  baseUrl() {},
  fits() {},
  probe() {},
}
const methods = Object.fromEntries(
  ['identity', 'account', 'prepare', 'sign', 'send', 'look'].map((name) => [name, () => {}]),
)
const signingBackend = { name: 'a vault', keys() {}, generate() {}, sign() {} }
const anchorer = { chain: 'eip155:1', scheme: 'eas', intervalMs: 1, stuckAfterMs: 1, ...methods }

const manifest = (over: object) => ({ manifest: { hosts: [], ...over } })
const hosts = (...names: unknown[]) => manifest({ hosts: names })

t.test('a plugin in order has no problem', async (t) => {
  const full = {
    hosts: [
      'connection.base_url',
      'target',
      'options.public_url',
      'api.example.com',
      '*.example.com',
      'example.com:8443',
      'a:80',
    ],
    methods: { jsonRpc: ['eth_getLogs'], graphql: ['query Q { id }', ' { id }'] },
    sockets: [
      { port: 993, tls: true, protocol: 'imap', commands: ['EXAMINE', 'UID FETCH'] },
      { port: 143, tls: 'starttls', protocol: 'imap', commands: ['NOOP'] },
      { port: 'connection', tls: true, protocol: 'imap', commands: ['NOOP'] },
      {
        port: 5432,
        tls: true,
        protocol: 'postgres',
        statements: [{ name: 'ticket', text: 'SELECT state FROM tickets WHERE id = $1', parameters: ['id'] }],
      },
      { port: 3306, tls: true, protocol: 'mysql', statements: [{ name: 'all', text: 'SELECT state FROM tickets' }] },
      { ...typedDatabase('postgres', 'a'), tls: false },
      { ...typedDatabase('mysql', 'b'), tls: false },
    ],
    programs: ['git'],
  }
  for (const over of [{}, { manifest: full }]) t.strictSame(definitionProblems({ ...plugin, ...over }), [])
})

const IMAP = { port: 993, tls: true, protocol: 'imap', commands: ['EXAMINE'] }
const TYPED = { ...IMAP, port: 'connection' }
const socket = (over: object) => manifest({ sockets: [{ ...IMAP, ...over }] })

function typedDatabase(protocol: 'postgres' | 'mysql', name: string) {
  return { port: 'connection', tls: true, protocol, statements: [{ name, text: 'SELECT 1' }] } as const
}

const STATEMENTS: readonly (readonly [says: string, text: string, protocol?: string])[] = [
  ['has a semicolon', 'SELECT 1; DROP TABLE tickets'],
  ['has a semicolon', "SELECT ''';'; DROP TABLE tickets"],
  ['has a backslash', "SELECT '\\'; DROP TABLE tickets --'", 'mysql'],
  ['has a comment', 'SELECT 1 /*! INTO OUTFILE "/tmp/a" */', 'mysql'],
  ['has a comment', 'SELECT 1 -- x'],
  ['has a comment', 'SELECT 1 # x', 'mysql'],
  ['has text between dollar signs', 'SELECT $$ $$'],
  ['has a quotation that does not end', "SELECT ' FROM tickets"],
  ['does not begin with', 'UPDATE tickets SET state = 1'],
  ['does not begin with', "COPY tickets TO PROGRAM 'sh'"],
  ['does not begin with', 'COMMIT'],
  ['does not begin with', "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE tickets", 'mysql'],
  ['has INTO', 'SELECT * INTO OUTFILE "/tmp/a" FROM tickets', 'mysql'],
  ['has INTO', 'SELECT * into copied FROM tickets'],
  ['has a word of statements that write', 'WITH gone AS (DELETE FROM tickets RETURNING id) SELECT id FROM gone'],
  ['has a word of statements that write', 'SELECT id FROM tickets FOR UPDATE'],
  ['locks rows', 'SELECT id FROM tickets FOR KEY SHARE'],
  ['takes the next value of a sequence', 'SELECT NEXT  VALUE FOR tickets', 'mysql'],
  ['takes the next value of a sequence', 'SELECT tickets.nextval', 'mysql'],
  ['locks rows', 'SELECT id FROM tickets LOCK IN SHARE MODE', 'mysql'],
  ['calls pg_terminate_backend,', 'SELECT pg_terminate_backend (pid) FROM pg_stat_activity'],
  ['calls pg_advisory_lock,', 'SELECT pg_catalog.pg_advisory_lock(1)'],
  ['calls a quoted name,', 'SELECT "pg_advisory_lock"(1)'],
  ['calls a quoted name,', `SELECT U&"pg!005fsleep" UESCAPE '!' (1)`],
  ['calls dblink,', "SELECT id FROM dblink('host=a.example', 'SELECT 1') AS there"],
  ['calls SET_CONFIG,', "SELECT count(*), SET_CONFIG('role', 'admin', true) FROM tickets"],
  ['calls OPERATOR,', 'SELECT 1 OPERATOR(a.+) 2'],
  ['has a backquote', 'SELECT 1 ` pg_sleep(1) ` 2'],
  ['calls GET_LOCK,', "SELECT GET_LOCK('a', 10)", 'mysql'],
  ['calls LOAD_FILE,', "SELECT LOAD_FILE('/etc/passwd')", 'mysql'],
  ['calls a quoted name,', 'SELECT `sleep` (10)', 'mysql'],
  ['calls sleep,', 'SELECT {fn sleep(10)}', 'mysql'],
  ['has 2 places for 0 parameters', 'SELECT $1, $2'],
  ['has 1 places for 0 parameters', "SELECT ?, '?'", 'mysql'],
]

const definitions: readonly (readonly [what: string, over: object, problem: RegExp])[] = [
  [
    'of an earlier version of the contract',
    { api: 2 },
    /^it is for plugin API 2, and this is API 3: install a newer version of the plugin, or change it by "From API 2 to 3"/,
  ],
  ['of a later version of the contract', { api: 4 }, /^it is for plugin API 4, and this is API 3: update the service$/],
  ['of no version of the contract', { api: undefined }, /^it is for plugin API undefined, and this is API 3: install/],
  ['without a name', { name: undefined }, /^the plugin\.name: /],
  ['with an empty name', { name: '' }, /^the plugin\.name: /],
  ['whose name has capitals', { name: 'Good' }, /^the plugin\.name: /],
  ['whose name is a path', { name: '../good' }, /^the plugin\.name: /],
  ['whose name is too long', { name: 'a'.repeat(65) }, /^the plugin\.name: /],
  ['without a setup', { setup: undefined }, /^the plugin\.setup: should be a function$/],
  ['whose setup is no function', { setup: {} }, /^the plugin\.setup: should be a function$/],
  ['without options', { options: undefined }, /^the plugin\.options: /],
  ['whose options are no object', { options: Type.String() }, /^the plugin\.options\.type: /],
  [
    'whose options do not compile',
    { options: { type: 'object', properties: { a: { type: 'b' } } } },
    /options: the schema does not compile: /,
  ],
  [
    'whose options have a keyword that is refused',
    { options: { type: 'object', properties: { a: { type: 'array', uniqueItems: true } } } },
    /the keyword uniqueItems in options\.a, /,
  ],
  ['without a manifest', { manifest: undefined }, /^the plugin\.manifest: /],
  ['whose manifest names no hosts', { manifest: {} }, /^the plugin\.manifest\.hosts: /],
  ['whose manifest has an unknown member', manifest({ host: [] }), /^the plugin\.manifest\.host: /],
  ['that lists all names of a top-level domain', hosts('*.com'), /top-level domain/],
  ['that lists an address for a host', hosts('https://api.example.com'), /^the plugin\.manifest\.hosts\.0: /],
  ['that lists every host', hosts('*'), /^the plugin\.manifest\.hosts\.0: /],
  ['that lists a name with a star within', hosts('api.*.com'), /^the plugin\.manifest\.hosts\.0: /],
  ['that lists a name in capitals', hosts('API.example.com'), /^the plugin\.manifest\.hosts\.0: /],
  ['that lists a path', hosts('example.com/api'), /^the plugin\.manifest\.hosts\.0: /],
  ['that lists an option without a name', hosts('options.'), /^the plugin\.manifest\.hosts\.0: /],
  ['that lists a connection without the name of its option', hosts('connection'), /hosts\.0: .*connection\.<option>/],
  ['that exchanges credentials where a claim says', manifest({ tokenHosts: ['target'] }), /tokenHosts: target/],
  ['that lists a misspelt word as a host', hosts('conection'), /^the plugin\.manifest\.hosts\.0: /],
  ['that lists an empty host', hosts('a.example', ''), /^the plugin\.manifest\.hosts\.1: /],
  ['that lists what is no text', hosts(5), /^the plugin\.manifest\.hosts\.0: /],
  ['with an unknown kind of method', manifest({ methods: { soap: [] } }), /^the plugin\.manifest\.methods\.soap: /],
  ['with a method without a name', manifest({ methods: { jsonRpc: [''] } }), /methods\.jsonRpc\.0: /],
  [
    'with a query that changes something',
    manifest({ methods: { graphql: ['mutation { close }'] } }),
    /methods\.graphql\.0: /,
  ],
  [
    'with a query that only begins like one',
    manifest({ methods: { graphql: ['queryable'] } }),
    /methods\.graphql\.0: /,
  ],
  ['with a port that is none', socket({ port: 0 }), /^the plugin\.manifest\.sockets\.0\.port: /],
  ['with a port beyond all', socket({ port: 65_536 }), /sockets\.0\.port: /],
  [
    'with a port that is a wrong word',
    socket({ port: 'any' }),
    /sockets\.0\.port: Write the number of a port, or connection/,
  ],
  ['without a port', socket({ port: undefined }), /sockets\.0\.port: /],
  ['with a socket that says nothing of TLS', socket({ tls: undefined }), /sockets\.0\.tls: /],
  ['with a socket of no protocol', socket({ protocol: undefined }), /sockets\.0\.protocol: /],
  ['with a socket of a protocol that is none', socket({ protocol: 'ftp' }), /sockets\.0\.protocol: /],
  ['with an unknown word on a socket', socket({ host: 'a' }), /sockets\.0\.host: /],
  ['with two sockets at one port', manifest({ sockets: [IMAP, { ...IMAP, tls: 'starttls' }] }), /sockets\.1\.port: /],
  [
    'with two sockets at the port that a workspace types',
    manifest({ sockets: [IMAP, TYPED, { ...TYPED, tls: 'starttls' }] }),
    /sockets\.2\.port: /,
  ],
  [
    'with two databases at the port that a workspace types whose statements have one name',
    manifest({ sockets: [typedDatabase('postgres', 'a'), typedDatabase('mysql', 'a')] }),
    /sockets\.1\.port: /,
  ],
  [
    'with two entries of one database at the port that a workspace types',
    manifest({ sockets: [typedDatabase('mysql', 'a'), typedDatabase('mysql', 'b')] }),
    /sockets\.1\.port: /,
  ],
  ...['SELECT', 'STORE', 'APPEND', 'COPY', 'MOVE', 'EXPUNGE', 'LOGIN', 'examine', 'constructor'].map(
    (command) =>
      [
        `with the command ${command} of IMAP`,
        socket({ commands: ['NOOP', command] }),
        /sockets\.0\.commands\.1: imap reads by .*EXAMINE/,
      ] as const,
  ),
  ...['pop3', 'smtp', 'custom'].map(
    (protocol) => [`with sockets of ${protocol}`, socket({ protocol }), /sockets\.0\.protocol: /] as const,
  ),
  ...STATEMENTS.map(
    ([says, text, protocol = 'postgres']) =>
      [
        `with the statement ${JSON.stringify(text)} of ${protocol}`,
        manifest({ sockets: [{ port: 5432, tls: true, protocol, statements: [{ name: 'a', text }] }] }),
        new RegExp(`sockets\\.0\\.statements\\.0\\.text: the statement ${says}`),
      ] as const,
  ),
  ['with a program without a name', manifest({ programs: [''] }), /^the plugin\.manifest\.programs\.0: /],
]
for (const [what, over, problem] of definitions) {
  t.test(`a plugin ${what} is refused`, async (t) => {
    const problems = definitionProblems({ ...plugin, ...over })
    t.equal(problems.length, 1, problems.join('\n'))
    t.match(problems[0], problem)
  })
}

t.test('what the operator configured is held against the options, and is in no message', async (t) => {
  const options = Type.Object({ token: Type.String({ maxLength: 2 }) }, { additionalProperties: false })
  const problems = (given: Readonly<Record<string, unknown>>) => optionsProblems({ options }, given)
  t.strictSame(problems({ token: 'ab' }), [])
  t.match(problems({}), [/^with\.token: /])
  t.match(problems({ token: 's3cret', other: 's3cret' }), [/^with\.other: /, /^with\.token: /])
  t.notMatch(problems({ token: 's3cret', other: 's3cret' }).join(), /s3cret/)
})

t.test('parts in order have no problem, nor do parts that are left out', async (t) => {
  const limits = { requests: 64, bodyBytes: 40 * 1024 * 1024, timeMs: 60_000 }
  const optional = { normalize() {}, destination() {}, limits }
  const full = {
    verifiers: [verifier, { ...verifier, ...optional }],
    connections: [connection],
    anchorer,
    signingBackend,
    close() {},
  }
  for (const parts of [{}, full]) t.strictSame(partsProblems(parts), [])
})

const verifiers = (over: object) => ({ verifiers: [verifier, { ...verifier, ...over }] })
const connections = (over: object) => ({ connections: [{ ...connection, ...over }] })
const limits = (over: object) => verifiers({ limits: over })
const profiles = (over: object) => verifiers({ profile: { ...profile, ...over } })
const spoken = (over: object) => profiles({ words: { ...words, ...over } })

const parts: [what: string, given: unknown, problem: RegExp][] = [
  ['are nothing', undefined, /^setup result: /],
  ['are null', null, /^setup result: /],
  ['are a list', [], /^setup result: /],
  ['have a misspelt member', { verifier: [] }, /^setup result\.verifier: /],
  ['have verifiers that are no list', { verifiers: {} }, /^setup result\.verifiers: /],
  ['have a verifier that is nothing', { verifiers: [null] }, /^setup result\.verifiers\.0: /],
  ['have a connection that is nothing', { connections: [null] }, /^setup result\.connections\.0: /],
  ['have an anchorer that is nothing', { anchorer: true }, /^setup result\.anchorer: /],
  ['have a signing backend that is nothing', { signingBackend: 1 }, /^setup result\.signingBackend: /],
  ['have a close that is no function', { close: 1 }, /^setup result\.close: should be a function$/],

  ['verify without a check', verifiers({ check: undefined }), /^verifiers\.1\.check: should be a function$/],
  ['verify without providers', verifiers({ providers: undefined }), /^verifiers\.1\.providers: /],
  ['verify through what is no name', verifiers({ providers: [5] }), /^verifiers\.1\.providers\.0: /],
  ['normalize by no function', verifiers({ normalize: {} }), /^verifiers\.1\.normalize: should be a function$/],
  ['name a destination by no function', verifiers({ destination: 'a' }), /^verifiers\.1\.destination: should be/],
  ['name a place by no function', verifiers({ anonymousSource: 'a' }), /^verifiers\.1\.anonymousSource: should be/],
  ['limit what there is not', limits({ sockets: 1 }), /^verifiers\.1\.limits\.sockets: /],
  ['ask for more requests than the ceiling', limits({ requests: 65 }), /^verifiers\.1\.limits\.requests: /],
  ['ask for larger bodies than the ceiling', limits({ bodyBytes: 40 * 1024 * 1024 + 1 }), /limits\.bodyBytes: /],
  ['ask for more time than the ceiling', limits({ timeMs: 60_001 }), /^verifiers\.1\.limits\.timeMs: /],
  ['ask for no requests', limits({ requests: 0 }), /^verifiers\.1\.limits\.requests: /],
  ['ask for half a request', limits({ requests: 1.5 }), /^verifiers\.1\.limits\.requests: /],

  ['connect without a provider', connections({ provider: undefined }), /^connections\.0\.provider: /],
  ['connect to a provider in capitals', connections({ provider: 'GitHub' }), /^connections\.0\.provider: /],
  ['connect without a title', connections({ title: '' }), /^connections\.0\.title: /],
  ['connect without help', connections({ help: undefined }), /^connections\.0\.help: /],
  [
    'connect with options that are no object',
    connections({ options: { type: 'array', properties: {} } }),
    /options\.type: /,
  ],
  ['connect with options of no members', connections({ options: { type: 'object' } }), /options\.properties: /],
  [
    'connect with options that do not compile',
    connections({ options: { type: 'object', properties: { a: { type: 'b' } } } }),
    /options: the schema does not compile: /,
  ],
  ['connect to no address', connections({ baseUrl: undefined }), /^connections\.0\.baseUrl: should be a function$/],
  ['connect to what fits nothing', connections({ fits: undefined }), /^connections\.0\.fits: should be a function$/],
  ['connect to what cannot be probed', connections({ probe: undefined }), /probe: should be a function$/],

  ['anchor without a chain', { anchorer: { ...anchorer, chain: '' } }, /^anchorer\.chain: /],
  ['anchor without pause', { anchorer: { ...anchorer, intervalMs: 0 } }, /^anchorer\.intervalMs: /],
  ...Object.keys(methods).map((name): [string, unknown, RegExp] => [
    `anchor without ${name}`,
    { anchorer: { ...anchorer, [name]: undefined } },
    new RegExp(`^anchorer\\.${name}: should be a function$`),
  ]),
  ['sign without a name', { signingBackend: { ...signingBackend, name: '' } }, /^signingBackend\.name: /],
  [
    'sign without keys',
    { signingBackend: { ...signingBackend, keys: 1 } },
    /^signingBackend\.keys: should be a function$/,
  ],

  ['have no profile', verifiers({ profile: undefined, anonymousSource: undefined }), /an invalid form: /],
  ['require what claims do not have', profiles({ required: { contents: 'content' } }), /requires the field contents/],
  ['have an action of two parts', profiles({ action: 'test.outcome' }), /an invalid action: /],
  ['have a version that is not digits', profiles({ version: '1.0' }), /an invalid version: /],
  ['have no summary', profiles({ summary: '' }), /an invalid summary: /],
  ['have an alias of two parts', profiles({ aliases: { 'a.b': { providers: ['one'] } } }), /an invalid aliases/],
  [
    'have an alias for nobody',
    profiles({ aliases: { 'a.b.c': { providers: [] } } }),
    /an invalid aliases\.a\.b\.c\.providers: /,
  ],
  ['have a target that is no text', profiles({ target: Type.Integer() }), /an invalid target\.type: /],
  ['have params that are no object', profiles({ params: Type.String() }), /an invalid params\.type: /],
  ['have facts that are no object', profiles({ facts: Type.String() }), /an invalid facts\.type: /],
  ['require by a role that is none', profiles({ required: { content: 'other' } }), /an invalid required\.content: /],
  ['have no tolerance', profiles({ toleranceMs: 0 }), /an invalid toleranceMs: /],
  [
    'have a deadline within the tolerance',
    profiles({ deadlineMs: 1000 }),
    /a deadline that is not after the tolerance$/,
  ],
  [
    'have a furthest deadline before the deadline',
    profiles({ maxDeadlineMs: 1999 }),
    /a maxDeadlineMs below its deadlineMs$/,
  ],
  ['have rules that nobody wrote', profiles({ rulesVersion: 4 }), /rulesVersion 4, which this service does not know$/],
  ['have rules without a version', profiles({ rulesVersion: undefined }), /an invalid rulesVersion: /],
  ['have an age before now', profiles({ ageMs: -1 }), /an invalid ageMs: /],
  ['have an age of more than a day', profiles({ ageMs: 24 * 60 * 60_000 + 1 }), /an invalid ageMs: /],
  ['have a removal window in fractions', profiles({ removedWithinMs: 0.5 }), /an invalid removedWithinMs: /],
  ['are fresh for long', profiles({ freshMs: 60_001 }), /an invalid freshMs: /],
  ['say nothing of access', profiles({ access: undefined }), /an invalid access: /],
  [
    'have a pattern that does not compile',
    profiles({ target: { type: 'string', pattern: '(' } }),
    /a target schema that does not compile: /,
  ],
  ['have no words', profiles({ words: undefined }), /an invalid words: /],
  ['have no title', spoken({ title: '' }), /an invalid words\.title: /],
  ['have a found fact without a name', spoken({ found: { target: '' } }), /an invalid words\.found/],
  ['have no word for the target', spoken({ target: undefined }), /an invalid words\.target: /],
  ['have no sentence for a claim', spoken({ claim: undefined }), /an invalid words\.claim: /],
  [
    'have no sentence for an outcome',
    spoken({ outcomes: { ...words.outcomes, late: undefined } }),
    /words\.outcomes\.late: /,
  ],
  [
    'have a sentence for what is unverifiable',
    spoken({ outcomes: { ...words.outcomes, unverifiable: 'It is not known.' } }),
    /an invalid words\.outcomes\.unverifiable: /,
  ],
  ['have words that there are not', spoken({ facs: {} }), /an invalid words\.facs: /],
  [
    'have a sentence that names what there is not',
    spoken({ claim: '{targt} is there.' }),
    /names \{targt\} in words\.claim/,
  ],
]
for (const [what, given, problem] of parts) {
  t.test(`parts that ${what} are refused`, async (t) => {
    const problems = partsProblems(given)
    t.equal(problems.length, 1, problems.join('\n'))
    t.match(problems[0], problem)
  })
}

t.test('all problems of all parts are told at once, each with its place', async (t) => {
  const problems = partsProblems({
    verifiers: [
      { ...verifier, check: 1 },
      verifier,
      { ...verifier, profile: { ...profile, version: 'x', summary: '' } },
    ],
    connections: [{ ...connection, help: '', fits: 1 }],
    close: 1,
  })
  t.match(problems.sort(), [
    /^connections\.0\.fits/,
    /^connections\.0\.help/,
    /^setup result\.close/,
    /^verifiers\.0\.check/,
    /^verifiers\.2\.profile .* (summary|version)/,
    /^verifiers\.2\.profile .* (summary|version)/,
  ])
  t.equal(problems.length, 6)
})

/** No start examines them. */
t.test('the plugins that come with the server have no problem', async (t) => {
  Object.assign(process.env, { ANCHOR_KEY: '1'.repeat(64), SIGNER_PIN: '1234' })
  const anchored = { rpc_url: 'https://rpc.example.com', chain: 'sepolia', key_env: 'ANCHOR_KEY' }
  const signing = { module: '/m.so', token: 'vault' }
  const given = { codehost: {}, http: {}, registry: {}, 'anchor-eas': anchored, 'signer-pkcs11': signing }
  for (const [name, options] of Object.entries(given)) {
    const { default: shipped }: { default: Plugin } = await import(`@claimcheck/plugin-${name}`)
    t.strictSame(definitionProblems(shipped), [], name)
    t.strictSame(optionsProblems(shipped, options), [], name)
    const parts = await shipped.setup({ logger: { info() {}, warn() {} } }, options)
    t.strictSame(partsProblems(parts), [], name)
    await parts.close?.()
  }
})

t.test('the places of a statement are its identifiers, one of them a table', async (t) => {
  const KINDS = { table: 'table', key: 'column' }
  for (const [text, identifiers, problem] of [
    ['SELECT {key} FROM {table} WHERE {key} IS NULL', KINDS, undefined],
    ['SELECT {all}, \'{"a": {key}}\' FROM {table}', { table: 'table', all: 'columns' }, undefined],
    ["SELECT '{key}'::int[] FROM tickets", undefined, undefined],
    ['SELECT 1 FROM {table}', undefined, /has a place \{table\} without an identifier$/],
    ['SELECT {other} FROM {table}', { table: 'table' }, /has a place \{other\} without/],
    ["SELECT '{key}' FROM {table}", KINDS, /has no place \{key\}$/],
    ['SELECT "{key}" FROM {table}', KINDS, /has no place \{key\}$/],
    ['SELECT {key} FROM tickets', { key: 'column' }, /needs one identifier that is a table$/],
    ['SELECT 1 FROM {a}, {b}', { a: 'table', b: 'table' }, /needs one identifier that is a table$/],
    ['SELECT 1 FROM {table} (1)', { table: 'table' }, /calls a quoted name/],
    ['SELECT {table}(1)', { table: 'table' }, /calls a quoted name/],
    ['DELETE FROM {table}', { table: 'table' }, /does not begin with SELECT/],
    ['SELECT 1 FROM {table}', { table: 'view' }, /identifiers\.table: /],
    ['SELECT 1 FROM {table}', { table: 'table', Key: 'column' }, /has no place \{Key\}$/],
  ] as const) {
    const statements = [{ name: 'a', text, identifiers }]
    const over = manifest({ sockets: [{ port: 5432, tls: true, protocol: 'postgres', statements }] })
    const problems = definitionProblems({ ...plugin, ...over })
    t.equal(problems.length, problem === undefined ? 0 : 1, `${text}: ${problems.join()}`)
    if (problem) t.match(problems[0], problem, text)
  }
})

t.test('statements that compute with what they read are declared', async (t) => {
  for (const [protocol, text] of [
    ['postgres', "SELECT count(*) FILTER (WHERE state IN ('a', 'b')), max(round(price::numeric(10, 2))) FROM tickets"],
    [
      'postgres',
      "WITH one AS (SELECT id, pg_xact_commit_timestamp(xmin) AS at FROM tickets) SELECT to_char(at, '(a') FROM one",
    ],
    ['postgres', 'SELECT o.roident FROM tickets, pg_xact_commit_timestamp_origin(tickets.xmin) AS o'],
    ['postgres', 'SELECT row_security_active(tableoid), pg_is_in_recovery() FROM tickets'],
    ['postgres', 'SELECT system_identifier, timeline_id FROM pg_control_system(), pg_control_checkpoint()'],
    ['postgres', 'SELECT min_recovery_end_timeline, pg_last_xact_replay_timestamp() FROM pg_control_recovery()'],
    ['postgres', 'SELECT "state" FROM "tickets" WHERE EXISTS (SELECT 1) AND (id) = ANY (ARRAY(SELECT 1)) OR (1) > (0)'],
    [
      'mysql',
      "SELECT `state`, JSON_EXTRACT(note, '$.a'), UNIX_TIMESTAMP(closed_at) FROM `tickets` USE INDEX (a) WHERE id IN (1)",
    ],
  ] as const) {
    const over = manifest({ sockets: [{ port: 5432, tls: true, protocol, statements: [{ name: 'a', text }] }] })
    t.strictSame(definitionProblems({ ...plugin, ...over }), [], text)
  }
})
