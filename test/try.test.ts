// Test run: end-to-end, alone
/** `claimcheck try`: what the author of a verifier sees of one check, against the real ticket system of the template. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { afterFile } from './support/after-file.ts'
import { CLAIMCHECK, runClaimcheck } from './support/command.ts'
import { pluginChecking } from './support/plugin-package.ts'

const PLUGIN = resolve('plugins/example')
const TOKEN = 'acme-read-token'
const CLAIM = { action: 'acme.ticket.close', target: 'shop-1', params: { resolution: 'done' } }

let system: ChildProcess
let url: string

/** What a process prints, until it has printed this. */
async function printed(stream: Readable, pattern: RegExp): Promise<string> {
  let text = ''
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += chunk
    if (pattern.test(text)) return text
  }
  throw new Error(`it ended before it printed ${pattern}: ${text}`)
}

t.before(async () => {
  const env = { ...process.env, PORT: '0' }
  system = spawn(process.execPath, [join(PLUGIN, 'dist/test/serve.js')], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  url = /http:\/\/[\d.:]+\d/.exec(await printed(system.stdout!, /Stop it/))![0]
})
afterFile(async () => {
  system.kill()
  await once(system, 'close')
})

/** Files for one trial. A text is written as it is. */
function files(t: Test, { claim = CLAIM, connection }: { claim?: object | string; connection?: object } = {}): string {
  const text = (value: object | string) => (typeof value === 'string' ? value : JSON.stringify(value))
  return t.testdir({
    'package.json': '{ "name": "tried", "type": "module", "dependencies": { "@claimcheck/core": "0.1.0" } }',
    'claim.json': text(claim),
    'connection.json': text(connection ?? { base_url: url, token: TOKEN }),
  })
}

const WITH = ['--claim', 'claim.json', '--connection', 'connection.json'] as const
const allow = () => ({ ALLOW_PRIVATE: new URL(url).host })

t.test('a check that finds the outcome prints the verdict first, then what it rests on', async (t) => {
  const { code, stdout } = await runClaimcheck(files(t), ['try', PLUGIN, ...WITH], allow())
  t.equal(code, 0)
  t.match(stdout, /^verified: Ticket SHOP-1 was closed as done in time\.\nThe service would sign a receipt now\.\n/)
  t.match(stdout, /Plugin +@claimcheck\/plugin-example 0\.1\.0, in a sandbox\n/)
  t.match(stdout, /Saw +present\n/)
  t.match(stdout, /facts +\{"ticket_id":1001,"closed_as":"done"/)
  t.match(stdout, new RegExp(`GET +200 +\\d+ ms +\\d+ B +${url}/api/projects/SHOP with bearer \\[credential\\]\\n`))
  t.match(stdout, /\/api\/projects\/SHOP\/tickets\/1 with/)
  t.notMatch(stdout, TOKEN)
})

t.test('a check that finds nothing decides nothing, and says when the service looks again', async (t) => {
  const folder = files(t, { claim: { ...CLAIM, target: 'SHOP-2' } })
  const { code, stdout } = await runClaimcheck(folder, ['try', PLUGIN, ...WITH], allow())
  t.equal(code, 0)
  t.match(stdout, /^Not decided yet: .*\nThe service would check again in 2 s, and look for the outcome until \d{4}-/)
})

t.test('with --json it prints one value, with the requests, the observation and the verdict', async (t) => {
  const { stdout } = await runClaimcheck(files(t), ['try', PLUGIN, ...WITH, '--json'], allow())
  t.match(JSON.parse(stdout), {
    verdict: 'verified',
    claim: { target: 'SHOP-1' },
    observation: { kind: 'present', differs: [] },
    requests: [{ status: 200 }, { status: 200 }],
    next_check_at: null,
  })
  t.notMatch(stdout, TOKEN)
})

const unread: [what: string, given: { claim?: object; connection?: () => object }, env: () => object, said: RegExp][] =
  [
    [
      'a private address that is not named',
      {},
      () => ({}),
      /^Not read: unavailable.*not https.*ALLOW_PRIVATE=127\.0\.0\.1:\d+/s,
    ],
    [
      'a token that is refused',
      { connection: () => ({ base_url: url, token: 'another-token' }) },
      allow,
      /^Not read: unauthorized, by an answer with status 401/,
    ],
    ['what may be hidden', { claim: { ...CLAIM, target: 'OTHER-1' } }, allow, /^Not read: forbidden.*GET +404/s],
  ]

for (const [what, { claim, connection }, env, said] of unread) {
  t.test(`${what} is no evidence, and ends with 1`, async (t) => {
    const folder = files(t, { ...(claim && { claim }), ...(connection && { connection: connection() }) })
    const { code, stdout } = await runClaimcheck(folder, ['try', PLUGIN, ...WITH], env() as Record<string, string>)
    t.equal(code, 1)
    t.match(stdout, said)
    t.notMatch(stdout, /another-token/)
  })
}

const refused: [
  what: string,
  claim: object | string,
  args: readonly string[],
  exitCode: number,
  said: readonly RegExp[],
][] = [
  [
    'a claim that does not match, field by field,',
    { ...CLAIM, target: '?', params: { resolutoin: 'done' }, by: 'me' },
    [],
    1,
    [/target/, /params\.resolution: /, /params\.resolutoin: /, /by: /],
  ],
  ['an action that it does not verify', { ...CLAIM, action: 'a.b.c' }, [], 2, [/a\.b\.c/, /acme\.ticket\.close/]],
  ['a claim without a connection', CLAIM, ['--claim', 'claim.json'], 1, [/--connection/, /base_url, token \(secret\)/]],
  ['a provider that the action is not read through', CLAIM, [...WITH, '--provider', 'x'], 2, [/acme/, /--provider/]],
  ['a claim that is not JSON', '{', [], 2, [/claim\.json: it is not JSON/]],
  ['a claim that is no object', '[]', [], 2, [/not a JSON object/]],
  ['a claim that is not there', CLAIM, ['--claim', 'none.json'], 2, [/none\.json: there is no such file/]],
]

for (const [what, claim, args, exitCode, said] of refused) {
  t.test(`${what} is refused before any request`, async (t) => {
    const folder = files(t, { claim })
    const { code, stdout, stderr } = await runClaimcheck(folder, ['try', PLUGIN, ...(args.length > 0 ? args : WITH)])
    t.equal(code, exitCode)
    t.equal(stdout, '')
    for (const pattern of said) t.match(stderr, pattern)
    t.notMatch(stderr, /at .*\.js/)
  })
}

t.test('options that do not fit the connection type are refused, and a secret is not repeated', async (t) => {
  const folder = files(t, { connection: { base_url: 'ftp://x', token: '', password: 'hunter2-hunter2' } })
  const { code, stderr } = await runClaimcheck(folder, ['try', PLUGIN, ...WITH])
  t.equal(code, 1)
  for (const named of [/base_url/, /token/, /password/]) t.match(stderr, named)
  t.notMatch(stderr, /hunter2/)
})

t.test('a plugin that does not load is refused with every problem', async (t) => {
  const folder = files(t)
  const plugin = `import { definePlugin, Type } from '@claimcheck/core/plugin'
    const profile = { action: 'a.b', version: 'x' }
    export default definePlugin({ name: 'p', api: 3, manifest: { hosts: [] }, options: Type.Object({}),
      setup: () => ({ verifiers: [{ profile, providers: ['none'] }, { providers: 'x', check() {} }] }) })`
  writeFileSync(join(folder, 'plugin.mjs'), plugin)
  const { code, stderr } = await runClaimcheck(folder, ['try', './plugin.mjs', ...WITH])
  t.equal(code, 1)
  for (const named of [/verifiers\.0\.check/, /action/, /version/, /verifiers\.1\.providers/]) t.match(stderr, named)
})

const unloadable: [what: string, code: string, said: RegExp][] = [
  ['with a mistake in its syntax', 'export default {', /failed as it was loaded: SyntaxError: /],
  ['that imports what is not installed', "import 'not-installed'", /failed as it was loaded: .*not-installed/],
  [
    'that throws as it is loaded',
    "throw new Error('a mistake\\u001b[2J of mine')",
    /failed as it was loaded: Error: a mistake \[2J of mine at file:.*plugin\.mjs:1:7/,
  ],
]

for (const [what, code, said] of unloadable) {
  t.test(`the author of a plugin ${what} reads the mistake, in one line`, async (t) => {
    const folder = files(t)
    writeFileSync(join(folder, 'plugin.mjs'), code)
    const { code: exitCode, stderr } = await runClaimcheck(folder, ['try', './plugin.mjs', ...WITH])
    t.equal(exitCode, 1)
    t.match(stderr, said)
    t.equal(stderr.trim().split('\n').length, 2)
  })
}

const misbehaving: [what: string, check: string, isolation: string, said: RegExp][] = [
  ['throws', `throw new Error('a mistake of mine')`, '--trusted', /Log\n.*a mistake of mine/s],
  ['throws in its sandbox', `throw new Error('a mistake of mine')`, '', /Log\n.*a mistake of mine/s],
  ['returns what is no observation', `return { kind: 'verified' }`, '', /Log\n.*kind is neither present nor absent/s],
  ['loops', 'for (;;) {}', '', /in a sandbox/],
  ['ends its process', 'process.exit(0)', '', /in a sandbox/],
]

for (const [what, check, isolation, said] of misbehaving) {
  t.test(`a check that ${what} is told, is no evidence, and ends with 1`, async (t) => {
    const folder = files(t, { claim: { action: 'test.outcome.reach', target: 'here', params: {} } })
    writeFileSync(join(folder, 'plugin.mjs'), pluginChecking(check))
    const args = ['try', './plugin.mjs', '--claim', 'claim.json', ...(isolation === '' ? [] : [isolation])]
    const { code, stdout } = await runClaimcheck(folder, args)
    t.equal(code, 1)
    t.match(stdout, /^Not read: (verifier_error|timeout)\./)
    t.match(stdout, said)
  })
}

t.test('with --watch it checks again, with the new code, when a file of the package changes', async (t) => {
  const folder = files(t)
  const copy = join(folder, 'package')
  cpSync(join(PLUGIN, 'dist'), join(copy, 'dist'), { recursive: true })
  cpSync(join(PLUGIN, 'package.json'), join(copy, 'package.json'))
  const env = { PATH: process.env.PATH, ...allow() }
  const child = spawn(process.execPath, [CLAIMCHECK, 'try', './package', ...WITH, '--watch'], { cwd: folder, env })
  t.teardown(() => child.kill())
  const both = printed(child.stdout, /^verified.*^verified/ms)
  await printed(child.stderr, /Waiting for a change/)
  const profile = join(copy, 'dist/profile.js')
  writeFileSync(profile, readFileSync(profile, 'utf8').replace('in time.', 'just as it said.'))
  t.match(await both, /^verified: Ticket SHOP-1 was closed as done in time\..*closed as done just as it said\./s)
})

t.test('a recording of real answers is replayed to the kit, and holds no credential', async (t) => {
  const folder = files(t)
  const args = ['plugin', 'record', PLUGIN, ...WITH, '--out', 'closed.json']
  const { code, stdout } = await runClaimcheck(folder, args, allow())
  t.equal(code, 0)
  t.match(stdout, /^Recorded: 2 answers of http:.* are in closed\.json\..*verified: /s)
  t.notMatch(readFileSync(join(folder, 'closed.json'), 'utf8'), TOKEN)

  const { recorded, readRecording } = await import('@claimcheck/core/testkit')
  t.match(await readRecording(join(folder, 'closed.json')), {
    origin: url,
    exchanges: [
      { method: 'GET', path: '/api/projects/SHOP', status: 200 },
      { path: '/api/projects/SHOP/tickets/1', status: 200 },
    ],
  })
  const replay = await recorded(join(folder, 'closed.json')).start({ now: Date.now })
  t.teardown(() => replay.stop())
  writeFileSync(join(folder, 'connection.json'), JSON.stringify({ base_url: replay.url, token: TOKEN }))
  const again = await runClaimcheck(folder, ['try', PLUGIN, ...WITH], { ALLOW_PRIVATE: new URL(replay.url).host })
  t.match(again, { code: 0, stdout: /^verified: Ticket SHOP-1/ })

  t.match(await runClaimcheck(folder, args, allow()), { code: 2, stderr: /closed\.json is there: add --append/ })
  writeFileSync(join(folder, 'connection.json'), JSON.stringify({ base_url: url, token: TOKEN }))
  t.match(await runClaimcheck(folder, [...args, '--append'], allow()), { code: 0, stdout: /^Recorded: 4 answers/ })
})
