// Test run: end-to-end, slow, alone
/**
 * No command writes what a terminal acts on or hides, whatever a service answers, a database holds, a file or an argument says.
 * Threats W8 and O10 of `security.md`.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { clientProgram } from '@claimcheck/cli/main'
import { terminalJson, terminalText } from '@claimcheck/core/words/terminal'
import { claimcheckProgram } from '@claimcheck/server/cli/main'
import t, { type Test } from 'tap'
import { type Outcome, runClaimcheck, runProgram } from './support/command.ts'
import { HOSTILE, hostileService, MANNERS } from './support/hostile-service.ts'
import { Installation, sharedInstallation } from './support/installation.ts'
import { query } from './support/sql.ts'

const CLIENT = resolve('core/cli/bin/claimcheck-cli.js')
const RISKY = /(?!\n)[\p{C}\p{Zl}\p{Zp}]/u
const shared = sharedInstallation()
const file = `file${HOSTILE}`

interface Given {
  readonly claim: string
  readonly receipt: string
  readonly url: string
}

/** Arguments of each command that asks a service. */
const AT_A_SERVICE: Readonly<Record<string, (given: Given) => readonly string[]>> = {
  claim: () => ['--action', 'test.outcome.reach', '--target', 'x', '--param', 'see=present', '--wait', '1'],
  'claim push': () => ['--unchecked'],
  'claims list': () => [],
  'claims watch': ({ claim }) => [claim],
  wait: ({ claim }) => [claim, '--target', 'x'],
  login: ({ url }) => [url, '--no-browser', '--key', '@key'],
  logout: () => [],
  'profiles list': () => [],
  'profiles use': () => ['main'],
  'receipt get': ({ receipt }) => [receipt],
  'receipt verify': ({ receipt }) => [receipt],
  'receipt open': ({ receipt }) => [receipt, '--no-browser'],
  verify: ({ url, receipt }) => [`${url}/v1/receipts/${receipt}`],
  mcp: () => [],
}

/** Arguments of the others, which read what is hostile from files, the database and the arguments. */
const HERE: Readonly<Record<string, readonly string[]>> = {
  try: [file],
  'plugin add': [`./${file}`],
  'plugin list': [],
  'plugin update': [file],
  'plugin remove': [file],
  'plugin new': [file, file],
  'plugin test': [file],
  'plugin record': [file, '--out', file],
  serve: [file],
  'signing-key rotate': [],
  'log new': [],
  'log forget-host': ['killed'],
  'log acknowledge': [],
  'log reopen': [],
  'log resume': [],
  'log archive': [file],
  'audit-trail': [],
  'user list': [],
  'user allowance': [file, '--separate'],
  'user reset': [file],
  'user close': [file],
  'workspace create': [`made${HOSTILE}`],
  'workspace rename': [file, file],
  'workspace retention': ['WORKSPACE'],
  'workspace sites': ['WORKSPACE', file],
  'workspace delete': ['WORKSPACE'],
  'workspace invite': ['WORKSPACE'],
  'key create': ['--workspace', 'WORKSPACE', '--name', file],
  'key list': [],
  'key change': [file],
  'key rotate': [file],
  'key revoke': [file],
  'key agents': ['--workspace', 'WORKSPACE'],
  'key release': [file],
  'connection add': [file, '--workspace', 'WORKSPACE'],
  'connection list': [],
  'connection rename': [file, file],
  'connection test': [file],
  'connection update': [file],
  'connection remove': [file],
  'webhook add': [file, '--workspace', 'WORKSPACE', '--type', file],
  'webhook list': [],
  'webhook off': [file],
  'webhook on': [file],
  'webhook remove': [file],
  'receipt erase': [file],
  'receipt erased': [],
  'receipt rewrite-files': [file],
  plugins: [],
  action: [file],
  anchor: [],
  'anchor now': [],
  'machine create': ['--workspace', 'WORKSPACE', '--name', file],
  'machine list': [],
  'machine revoke': [file],
  migrate: [],
  'secret-key status': [],
  'secret-key forget': [],
  'secret-key rotate': [],
  doctor: [],
  copy: ['--to', `sqlite:${file}`],
  backup: [file],
  restore: [file],
}

/** Of those that print texts of others when they succeed. */
const SHOW_NAMES = ['user list', 'key list', 'key agents', 'workspace invite']

type Runs = (args: readonly string[]) => Promise<Outcome>

/** Each command for people and with --json. Returns how often something hostile was shown. */
async function runAll(t: Test, commands: readonly (readonly [name: string, args: readonly string[]])[], runs: Runs) {
  const shown = new Set<string>()
  for (const [name, args] of commands) {
    for (const more of [[], ['--json']]) {
      const { stdout, stderr } = await runs([...name.split(' '), ...args, ...more])
      const what = `${name} ${more}`
      t.notMatch(stdout, RISKY, what)
      t.notMatch(stderr, RISKY, what)
      t.notMatch(stdout + stderr, /^FORGED/m, what)
      t.notMatch(stderr, /^ {4}at /m, `${what}: an error for people`)
      if (more.length > 0 && stdout !== '' && name !== 'receipt get') t.doesNotThrow(() => JSON.parse(stdout), what)
      if (/FORGED/.test(stdout + stderr)) shown.add(name)
    }
  }
  return shown
}

function leavesOf(program: ReturnType<typeof clientProgram>): string[] {
  return program.commands.flatMap((command) => {
    const below = leavesOf(command).map((name) => `${command.name()} ${name}`)
    const isGroup = below.length > 0 && !['claim', 'anchor'].includes(command.name())
    return isGroup ? below : [command.name(), ...below]
  })
}

t.test('the lists here name every command of both programs', async (t) => {
  const names = [...Object.keys(AT_A_SERVICE), ...Object.keys(HERE)]
  t.strictSame(leavesOf(claimcheckProgram()).toSorted(), names.toSorted())
  const ofClients = leavesOf(clientProgram())
  t.strictSame(
    ofClients.filter((name) => !names.includes(name)),
    [],
  )
})

for (const manner of MANNERS) {
  t.test(`commands at a service that answers with hostile ${manner}`, async (t) => {
    const installation = await shared()
    const client = await installation.client(`a ${manner}`)
    const { body: submitted } = await client.submit()
    const decided = await client.decided(submitted.claim_id)
    const url = await hostileService(installation.url, manner)
    const folder = t.testdir({ key: client.key })
    const given = { claim: decided.claim_id, receipt: decided.receipt_id, url }
    const env = { XDG_CONFIG_HOME: join(folder, 'config'), CLAIMCHECK_URL: url, CLAIMCHECK_API_KEY: client.key }
    const commands = Object.entries(AT_A_SERVICE).map(([name, args]) => [name, args(given)] as const)
    const ofServer: Runs = (args) =>
      args[0] === 'mcp' ? Promise.resolve({ code: 0, stdout: '', stderr: '' }) : runClaimcheck(folder, args, env)
    const shown = await runAll(
      t,
      commands.filter(([name]) => name !== 'receipt get'),
      ofServer,
    )
    if (manner === 'words' || manner === 'error')
      t.ok(shown.size > 2, `texts of the service are shown by ${[...shown]}`)
    if (manner === 'words') {
      const ofClient: Runs = (args) => runProgram({ folder, args, env: { PATH: process.env.PATH!, ...env } }, CLIENT)
      await runAll(
        t,
        commands.filter(([name]) => /^(claims list|mcp)/.test(name)),
        ofClient,
      )
    }
    const got = await runClaimcheck(folder, ['receipt', 'get', given.receipt], env)
    if (manner === 'nonsense') t.equal(got.stdout, HOSTILE, 'what is signed passes through a pipe as it came')
  })
}

t.test('commands at an installation with hostile names, and with hostile arguments', async (t) => {
  const installation = await Installation.during(t)
  const client = await installation.client('acme')
  await client.decided((await client.submit()).body.claim_id)
  const run = (...args: string[]) => runClaimcheck(installation.folder, args, installation.env)
  await run('machine', 'create', '--workspace', 'acme', '--name', 'robot')
  await run('key', 'create', '--workspace', 'acme', '--name', 'bound', '--agent', 'bot')
  const { databaseUrl } = installation.config
  await query(
    databaseUrl,
    `INSERT INTO users (id, email, name, generation, created_at) VALUES ('usr_1', 'a@example.com', 'Ann', 0, 1)`,
  )
  for (const column of [
    'workspaces.name',
    'api_keys.name',
    'machines.name',
    'users.name',
    'users.email',
    'bound_agents.agent_id',
  ]) {
    const [table, name] = column.split('.')
    await query(databaseUrl, `UPDATE ${table} SET ${name} = ${name} || '${HOSTILE}'`)
  }
  const commands = Object.entries(HERE).map(
    ([name, args]) => [name, args.map((arg) => (arg === 'WORKSPACE' ? client.workspaceId : arg))] as const,
  )
  const env = { ...installation.env, PUBLIC_URL: 'https://claimcheck.example.com', LOG_LEVEL: 'info' }
  const shown = await runAll(t, commands, (args) => runClaimcheck(installation.folder, args, env))
  t.strictSame(
    SHOW_NAMES.filter((name) => !shown.has(name)),
    [],
  )
})

t.test('commands with hostile profiles, variables, options and names of commands', async (t) => {
  const folder = t.testdir({ config: { claimcheck: {} } })
  const profile = { url: 'https://claimcheck.example.com', key: 'k' }
  const profiles = JSON.stringify({ current: file, profiles: { [file]: profile } })
  writeFileSync(join(folder, 'config/claimcheck/profiles.json'), profiles, { mode: 0o600 })
  const own = { XDG_CONFIG_HOME: join(folder, 'config') }
  const cases: [args: readonly string[], env?: Readonly<Record<string, string>>][] = [
    [[file]],
    [['claims', file]],
    [['claims', 'list', `--${file}`]],
    [['claims', 'list', '--verdict', file]],
    [['claims', 'list', '--limit', file]],
    [['profiles', 'list']],
    [['profiles', 'use', file]],
    [['profiles', 'use', `no${HOSTILE}`]],
    [['logout', '--profile', `no${HOSTILE}`]],
    [['login', file]],
    [['login', '--key', file]],
    [['login', 'https://claimcheck.example.com', '--key', `@${file}`]],
    [['verify', file]],
    [['verify', `https://${file}`]],
    [['verify', 'x', '--pin', file]],
    [['verify', 'x', '--rpc', file]],
    [['claims', 'list'], { CLAIMCHECK_URL: file, CLAIMCHECK_API_KEY: 'k' }],
    [['claims', 'list'], { CLAIMCHECK_PROFILE: file }],
    [['serve'], { PORT: file }],
    [['migrate'], { DATABASE_URL: `sqlite:${file}/${file}` }],
    [['migrate'], { DATABASE_URL: file }],
    [['serve'], { PUBLIC_URL: file }],
  ]
  for (const [args, env] of cases) {
    for (const more of [[], ['--json']]) {
      const { stdout, stderr } = await runClaimcheck(folder, [...args, ...more], { ...own, ...env })
      t.notMatch(stdout + stderr, RISKY, JSON.stringify([args, env]))
    }
  }
})

t.test('a text and a JSON value are written as what they are, in characters that are shown', async (t) => {
  const value = { [HOSTILE]: [HOSTILE, 'é 日本 \u{1f600}'] }
  const json = terminalJson(JSON.stringify(value))
  t.notMatch(json, RISKY)
  t.strictSame(JSON.parse(json), value)
  t.match(json, 'é 日本 \u{1f600}')
  t.notMatch(terminalText(HOSTILE), RISKY)
  const coloured = '\u001b[1m\u001b[31mbad\u001b[39m\u001b[22m'
  t.equal(terminalText(coloured, true), coloured)
  t.notMatch(terminalText(coloured), RISKY)
  t.notMatch(terminalText('\u001b[8m\u009b31m\u001b[31;8m', true), RISKY)
})

t.test('nothing but the writer writes to standard output and standard error', async (t) => {
  const allowed: Readonly<Record<string, string>> = {
    'core/command-line/src/terminal.ts': 'is the writer',
    'core/cli/src/commands/receipt.ts': 'a receipt byte for byte, where no terminal reads it',
  }
  const found = ['core/cli/src', 'core/command-line/src', 'core/plugin-tools/src', 'server/src'].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name))
      .map((name) => `${folder}/${name}`)
      .filter((path) => /std(?:out|err)\.write\(|console\.(?:log|error|info)\(/.test(readFileSync(path, 'utf8'))),
  )
  t.strictSame(found.toSorted(), Object.keys(allowed).toSorted())
})
