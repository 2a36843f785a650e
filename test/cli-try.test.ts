// Test run: end-to-end, slow
/** `claimcheck-plugin try`: one check in the process of the command, by the kit's host. What it shares with the server's is in `try.test.ts`. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t, { type Test } from 'tap'
import { afterFile } from './support/after-file.ts'
import { type Outcome, runProgram } from './support/command.ts'
import { freePort } from './support/free-port.ts'
import { pluginChecking } from './support/plugin-package.ts'
import { serving } from './support/serving.ts'

const PROGRAM = resolve('core/plugin-tools/bin/claimcheck-plugin.js')
const PLUGIN = resolve('plugins/example')
/** Nothing is installed where the plugins are. */
const CORE = resolve('core/dist/plugin.js')
const TOKEN = 'acme-read-token'
const CLAIM = { action: 'acme.ticket.close', target: 'shop-1', params: { resolution: 'done' } }
const WITH = ['--claim', 'claim.json', '--connection', 'connection.json']

let system: ChildProcess
let url: string

t.before(async () => {
  const port = await freePort()
  const env = { ...process.env, PORT: String(port) }
  system = spawn(process.execPath, [join(PLUGIN, 'dist/test/serve.js')], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  url = `http://127.0.0.1:${port}`
  await once(system.stdout!, 'data')
})
afterFile(async () => {
  system.kill()
  await once(system, 'close')
})

function files(t: Test, claim: object = CLAIM, connection: object = { base_url: url, token: TOKEN }): string {
  return t.testdir({
    'package.json': '{ "name": "tried", "version": "1.2.3", "type": "module" }',
    'claim.json': JSON.stringify(claim),
    'connection.json': JSON.stringify(connection),
  })
}

const cli = (folder: string, args: readonly string[]): Promise<Outcome> =>
  runProgram({ folder, args, env: {} }, PROGRAM)

t.test('it prints the verdict first, how the plugin ran, and each request, without the credential', async (t) => {
  const done = await cli(files(t), ['try', PLUGIN, ...WITH])
  t.match(done, { code: 0, stderr: '', stdout: /^verified: Ticket SHOP-1 was closed as done in time\.\n/ })
  t.match(done.stdout, /Plugin +@claimcheck\/plugin-example 0\.1\.0, in this process, without a sandbox/)
  t.match(
    done.stdout,
    new RegExp(`GET +200 +\\d+ ms +\\d+ B +${url}/api/projects/SHOP with bearer \\[credential\\]\\n`),
  )
  t.notMatch(done.stdout, TOKEN)
  const json = JSON.parse((await cli(files(t), ['try', PLUGIN, ...WITH, '--json'])).stdout)
  t.match(json, { verdict: 'verified', claim: { target: 'SHOP-1' }, requests: [{ status: 200 }, { status: 200 }] })
})

t.test('what was not read is no evidence, and ends with 1', async (t) => {
  const refused = await cli(files(t, CLAIM, { base_url: url, token: 'another-token' }), ['try', PLUGIN, ...WITH])
  t.match(refused, { code: 1, stdout: /^Not read: unauthorized, by an answer with status 401/ })
  t.notMatch(refused.stdout, /another-token/)
  const nowhere = `http://127.0.0.1:${await freePort()}`
  const away = await cli(files(t, CLAIM, { base_url: nowhere, token: TOKEN }), ['try', PLUGIN, ...WITH])
  t.match(away, { code: 1, stdout: /^Not read: unavailable.*ECONNREFUSED/s })
  const absent = await cli(files(t, { ...CLAIM, target: 'SHOP-2' }), ['try', PLUGIN, ...WITH])
  t.match(absent, { code: 0, stdout: /^Not decided yet: .*\nThe service would check again in / })
})

const refused: [what: string, claim: object, args: readonly string[], said: readonly RegExp[]][] = [
  [
    'a claim that the profile refuses',
    { ...CLAIM, target: '?', params: { resolutoin: 'done' } },
    WITH,
    [/target: /, /params\.resolutoin: /],
  ],
  [
    'a claim that is none',
    { ...CLAIM, by: 'me', claimed_at: 'now' },
    WITH,
    [/by: a claim has no such member/, /claimed_at: write a time/],
  ],
  ['another action', { ...CLAIM, action: 'a.b.c' }, WITH, [/does not verify a\.b\.c/, /acme\.ticket\.close/]],
  ['no connection', CLAIM, ['--claim', 'claim.json'], [/base_url, token \(secret\)/, /--connection FILE/]],
  ['another provider', CLAIM, [...WITH, '--provider', 'x'], [/acme/, /provider/]],
]

for (const [what, claim, args, said] of refused) {
  t.test(`${what}: it is refused before any request`, async (t) => {
    const done = await cli(files(t, claim), ['try', PLUGIN, ...args])
    t.match(done, { code: 2, stdout: '' })
    for (const pattern of said) t.match(done.stderr, pattern)
    t.notMatch(done.stderr, /at .*\.js/)
  })
}

t.test('options of a connection that do not fit are named, and a secret is not repeated', async (t) => {
  const folder = files(t, CLAIM, { base_url: 'ftp://x', token: '', password: 'hunter2-hunter2' })
  const done = await cli(folder, ['try', PLUGIN, ...WITH])
  t.match(done, { code: 2, stderr: /options\.base_url.*options\.token/s })
  t.notMatch(done.stderr, /hunter2/)
})

t.test('what is no plugin, does not load, or runs programs says so', async (t) => {
  const folder = files(t)
  t.match(await cli(folder, ['try', 'not-installed', ...WITH]), {
    code: 2,
    stderr: /^There is no plugin not-installed/,
  })
  writeFileSync(join(folder, 'empty.js'), 'export default {}')
  t.match(await cli(folder, ['try', './empty.js', ...WITH]), { code: 2, stderr: /exports no plugin/ })
  writeFileSync(join(folder, 'broken.js'), "throw new Error('a mistake of mine')")
  t.match(await cli(folder, ['try', './broken.js', ...WITH]), { code: 2, stderr: /as it was loaded: Error: a mistake/ })
  writeFileSync(join(folder, 'ends.js'), 'process.exit(0)')
  t.match(await cli(folder, ['try', './ends.js', ...WITH]), { code: 1, stderr: /^The plugin ended the process/ })
  const programs = await cli(folder, ['try', resolve('plugins/codehost'), ...WITH])
  t.match(programs, { code: 2, stderr: /^The plugin runs programs.*\n.*@claimcheck\/server/ })
})

t.test('a recording holds no secret, in no form in which an answer repeats it', async (t) => {
  const secret = 'se"cr/et+of mine'
  const base = await serving(t, (request, response) => {
    response.setHeader('x-repeats', encodeURIComponent(secret))
    response.end(JSON.stringify({ secret, base64: Buffer.from(secret).toString('base64'), plain: 'kept' }))
    request.resume()
  })
  const folder = files(t, CLAIM, { base_url: base, token: secret })
  const done = await cli(folder, ['record', PLUGIN, ...WITH, '--out', 'made.json'])
  t.match(done.stdout, /^Recorded: 1 answers/, done.stderr)
  const text = readFileSync(join(folder, 'made.json'), 'utf8')
  t.match(text, 'kept')
  t.notMatch(text, /of.{1,3}mine|cr%2Fet|c2UiY3IvZXQr/)
})

const misbehaving: [what: string, check: string, said: RegExp][] = [
  ['throws', `throw new Error('a mistake of mine')`, /^Not read: verifier_error.*Log\n.*a mistake of mine/s],
  [
    'returns what is no observation',
    `return { kind: 'verified' }`,
    /^Not read: verifier_error.*Log\n.*no observation/s,
  ],
  [
    'asks elsewhere',
    `await context.fetch('https://other.example/')`,
    /^Not read: .*Log\n.*asks https:\/\/other\.example/s,
  ],
  ['opens a connection of its own', `await fetch('http://127.0.0.1:40009/')`, /Log\n.*opens a connection of its own/s],
]

for (const [what, check, said] of misbehaving) {
  t.test(`a check that ${what} is told, is no evidence, and ends with 1`, async (t) => {
    const folder = files(t, { action: 'test.outcome.reach', target: 'here', params: {} })
    writeFileSync(join(folder, 'plugin.js'), pluginChecking(check, CORE))
    const done = await cli(folder, ['try', './plugin.js', '--claim', 'claim.json'])
    t.match(done, { code: 1, stdout: said }, done.stderr)
  })
}

t.test('a check that loops is ended, with words', async (t) => {
  const folder = files(t, { action: 'test.outcome.reach', target: 'here', params: {} })
  writeFileSync(join(folder, 'plugin.js'), pluginChecking('for (;;) {}', CORE))
  const done = await cli(folder, ['try', './plugin.js', '--claim', 'claim.json'])
  t.match(done, { code: null, stderr: /holds the processor, since the kit was at the check try/ })
})
