// Test run: end-to-end
/** Commands that are clients of a service: they claim there, follow claims, read receipts, and keep keys in profiles. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t, { type Test } from 'tap'
import { runClaimcheck } from './support/command.ts'
import { sharedInstallation } from './support/installation.ts'

const shared = sharedInstallation()
let people = 0

/** The command line of somebody on another machine than the service's. */
async function person(t: Test) {
  const installation = await shared()
  const folder = t.testdir()
  const client = await installation.client(`acme-${++people}`)
  const own = { XDG_CONFIG_HOME: join(folder, 'config') }
  const keyed = { ...own, CLAIMCHECK_URL: installation.url, CLAIMCHECK_API_KEY: client.key }
  return {
    installation,
    folder,
    client,
    file: join(folder, 'config/claimcheck/profiles.json'),
    /** With the key in the environment. */
    run: (...args: string[]) => runClaimcheck(folder, args, keyed),
    /** With nothing in the environment, or this. */
    bare: (args: readonly string[], env = {}) => runClaimcheck(folder, args, { ...own, ...env }),
  }
}

const CLAIM = ['claim', '--action', 'test.outcome.reach', '--target', 'somewhere']

t.test('a claim ends with the exit code of its verdict', async (t) => {
  const { run, installation } = await person(t)
  const verified = await run(...CLAIM, '--param', 'see=present', '--agent', 'bot', '--wait')
  t.match(verified, { code: 0, stderr: '', stdout: /^verified: / })
  t.match(verified.stdout, `${installation.url}/r/rcpt_`)

  const old = ['--claimed-at', new Date(installation.claimcheck.now() - 3_600_000).toISOString()]
  t.match(await run(...CLAIM, '--param', 'see=forbidden', ...old, '--wait', '1'), { code: /^[67]$/ })
  t.match(await run('claim', '--action', 'no.such.action', '--target', 'x'), { code: 6, stdout: /^unverifiable: / })

  const queued = await run(...CLAIM, '--param', 'see=absent', '--id', 'same')
  t.match(queued, { code: 7, stdout: /^queued: not decided yet/ })
  t.match(queued.stdout, /claimcheck claims watch clm_/)
  const again = await run(...CLAIM, '--param', 'see=absent', '--id', 'same', '--wait', '1')
  t.match(again, { code: 7, stdout: /submitted before, under the same id/ })
  const taken = await run(...CLAIM, '--param', 'see=absent', '--agent', 'merge-gate', '--id', 'same', '--wait', '1')
  t.match(taken, { code: 1, stderr: /The id same is that of another claim, clm_/ }, 'an id that another agent took')

  const { status } = { status: JSON.parse((await run(...CLAIM, '--param', 'see:="present"', '--json')).stdout) }
  t.match(status, { state: 'decided', verdict: 'verified', agent_id: 'command-line', created: true })
})

t.test('what the service refuses, and what was not understood', async (t) => {
  const { run, bare, client, installation } = await person(t)
  t.match(await run('claim'), { code: 2, stdout: '', stderr: /--action and --target/ })
  t.match(await run(...CLAIM, '--param', 'see'), { code: 2, stderr: /no param/ })
  t.match(await run(...CLAIM, '--wait', 'long'), { code: 2, stderr: /number of seconds/ })
  t.match(await run(...CLAIM, '--param', 'see=\u001b[31m'), { code: 1, stderr: /params\.see/ })
  t.match(await bare(CLAIM), { code: 1, stderr: /No service is named: run claimcheck login/ })
  t.match(await bare(CLAIM, { CLAIMCHECK_URL: installation.url }), { code: 1, stderr: /no key for/ })
  const wrong = { CLAIMCHECK_URL: installation.url, CLAIMCHECK_API_KEY: 'svc_sk_wrong' }
  t.match(await bare(CLAIM, wrong), { code: 1, stderr: /invalid or missing API key.*Log in again/ })
  const plain = { CLAIMCHECK_URL: 'http://claimcheck.example.com', CLAIMCHECK_API_KEY: client.key }
  t.match(await bare(CLAIM, plain), { code: 2, stderr: /must begin with https: others on the way.*this machine\.\n$/ })
  const json = await bare([...CLAIM, '--json'], wrong)
  t.match(JSON.parse(json.stdout), { error: { code: 'unauthorized' } })
  t.match(await run('claim', 'push'), { code: 1, stderr: /no git checkout|not on|leads to no|no commit|remote/ })
})

t.test('a push is claimed with its time, and says how long ago it was', async (t) => {
  const { bare, folder } = await person(t)
  let sent: Record<string, unknown> = {}
  const service = createServer(async (request, response) => {
    sent = JSON.parse(await text(request))
    response.writeHead(403, { 'content-type': 'application/json' }).end('{"message":"no"}')
  }).listen(0, '127.0.0.1')
  await once(service, 'listening')
  t.teardown(() => service.close())
  const git = (agoS: number, ...args: string[]) => {
    const env = { ...process.env, GIT_COMMITTER_DATE: `@${Math.floor(Date.now() / 1000) - agoS} +0000` }
    const person = ['-c', 'user.name=A', '-c', 'user.email=a@example.com']
    execFileSync('git', [...person, ...args], { cwd: folder, env, stdio: 'pipe' })
  }
  git(0, 'init', '-q', '--bare', 'bare.git')
  git(0, 'init', '-q', '-b', 'main')
  git(0, 'remote', 'add', 'origin', join(folder, 'bare.git'))
  const { port } = service.address() as AddressInfo
  const keyed = { CLAIMCHECK_URL: `http://127.0.0.1:${port}`, CLAIMCHECK_API_KEY: 'svc_sk_x' }
  const given = ['claim', 'push', '--target', 'acme/api', '--host', 'git.example.com', '--agent', 'bot']
  /** Pushes a new commit so many seconds ago, and claims it. @returns how long ago it is by the claim's two times, in seconds */
  const claimed = async (agoS: number | undefined, ...more: string[]) => {
    if (agoS !== undefined) {
      git(0, 'commit', '-q', '--allow-empty', '-m', 'x')
      git(agoS, 'push', '-q', '-u', 'origin', 'main')
    }
    await bare([...given, ...more], keyed)
    t.match(sent, { target: 'acme/api', agent_id: 'bot' }, 'with the options that claim has, too')
    const { claimed_at, claimed_ago_ms } = sent as { claimed_at: string; claimed_ago_ms?: number }
    const minutes = (ms: number) => Math.round(ms / 60_000)
    return [
      minutes(Date.now() - Date.parse(claimed_at)),
      claimed_ago_ms === undefined ? undefined : minutes(claimed_ago_ms),
    ]
  }
  t.strictSame(await claimed(0), [0, 0])
  t.strictSame(await claimed(5 * 60), [5, 5])
  t.strictSame(await claimed(3 * 3600), [0, 180])
  t.strictSame(await claimed(undefined, '--claimed-at', new Date(Date.now() - 7 * 60_000).toISOString()), [
    7,
    undefined,
  ])
  rmSync(join(folder, '.git/logs/refs/remotes'), { recursive: true })
  t.strictSame(await claimed(undefined), [0, 0], 'without a reflog')
})

t.test('claims are listed by what they are, and watched until they are decided', async (t) => {
  const { run, client } = await person(t)
  t.match(await run('claims', 'list'), { code: 0, stdout: 'No claims.\n' })
  const one = (await client.submit({ target: 'bot\u202e' })).body
  const two = (await client.submit({ params: { see: 'absent' } })).body
  const listed = await run('claims', 'list')
  t.match(listed, { code: 0, stdout: /CLAIM +VERDICT +AGENT/ })
  t.match(listed.stdout, 'bot<U+202E>', 'made harmless')
  const json = JSON.parse((await run('claims', 'list', '--verdict', 'verified', '--json')).stdout)
  t.strictSame(
    json.map(({ claim_id }: { claim_id: string }) => claim_id),
    [one.claim_id],
  )
  t.equal(JSON.parse((await run('claims', 'list', '--limit', '1', '--json')).stdout).length, 1)
  t.match(await run('claims', 'list', '--state', 'nonsense'), { code: 2 })
  t.match(await run('claims', 'list', '--limit', '0'), { code: 2 })

  const watched = await run('claims', 'watch', one.claim_id)
  t.match(watched, { code: 0, stdout: new RegExp(`^${one.claim_id} .*verified +rcpt_`) })
  t.match(await run('claims', 'watch', 'clm_nothing'), { code: 1, stderr: /404/ })
  t.ok(two.claim_id)
})

t.test('a gate waits for claims, and takes those alone that are about what it is for', async (t) => {
  const { run, client } = await person(t)
  const one = (await client.submit({ target: 'acme/api' })).body.claim_id
  const other = (await client.submit({ target: 'acme/web' })).body.claim_id
  const queued = (await client.submit({ params: { see: 'absent' } })).body.claim_id
  const none = (await client.submit({ action: 'no.such.action' })).body.claim_id
  const present = ['--param', 'see=present']
  const rows: readonly (readonly [args: readonly string[], code: number, says: RegExp])[] = [
    [[one], 0, /verified/],
    [[one, '--action', 'test.outcome.reach', '--target', 'acme/api', ...present], 0, /verified/],
    [[one, other, '--require', 'late,verified'], 0, /verified/],
    [[one, other, '--target', 'acme/api'], 1, /is about another target/],
    [[one, '--action', 'codehost.commit.push'], 1, /is of another action/],
    [[one, '--param', 'see=absent'], 1, /has another see/],
    [[one, ...present, '--param', 'toString=x'], 1, /has another toString/],
    [[one, '--require', 'late'], 1, /is not late/],
    [[one, none], 6, /is not verified/],
    [[none, '--require', 'unverifiable'], 0, /unverifiable/],
    [[one, queued, '--for', '1'], 7, /is not decided/],
    [[one, '--require', 'good'], 2, /^$/],
    [[one, '--for', 'ever'], 2, /^$/],
    [['clm_nothing'], 1, /^$/],
  ]
  for (const [args, code, says] of rows)
    t.match(await run('wait', ...args), { code, stdout: says }, args.slice(1).join(' '))
})

t.test('receipts are printed as they are, checked, and their pages named', async (t) => {
  const { bare, client, installation } = await person(t)
  const env = { CLAIMCHECK_URL: installation.url }
  const { receipt_id } = (await client.submit()).body
  const exact = await (await fetch(`${installation.url}/v1/receipts/${receipt_id}`)).text()
  t.same(await bare(['receipt', 'get', receipt_id], env), { code: 0, stdout: exact, stderr: '' })
  t.match(await bare(['receipt', 'verify', receipt_id], env), { code: 0, stdout: /verified/ })
  t.match(await bare(['receipt', 'verify', receipt_id, '--expect-source', 'github.com'], env), { code: 1 })
  t.match(await bare(['receipt', 'verify', 'rcpt_unknown'], env), { code: 2 })
  const page = `${installation.url}/r/${receipt_id}`
  t.same(await bare(['receipt', 'open', receipt_id], env), { code: 0, stdout: `${page}\n`, stderr: '' })
  for (const id of ['../keys', 'clm_1', 'rcpt_a/b']) {
    t.match(await bare(['receipt', 'get', id], env), { code: 2, stderr: /no id of a receipt/ }, id)
  }
  t.match(await bare(['receipt', 'get', 'rcpt_unknown'], env), { code: 1, stderr: /404/ })
})

t.test('a key is kept in a profile that only its owner reads', async (t) => {
  const { bare, file, folder, client, installation } = await person(t)
  writeFileSync(join(folder, 'key.txt'), `${client.key}\n`)
  const { url } = installation
  t.match(await bare(['login', url, '--key', client.key]), { code: 2, stderr: /Do not write the key itself/ })
  t.match(await bare(['login', '--key', '@key.txt']), { code: 2, stderr: /Name the service/ })
  const listenedTo = { code: 2, stderr: /must begin with https: others on the way/ }
  t.match(await bare(['login', 'http://192.0.2.1']), listenedTo, 'nothing is asked there, and no key made')
  writeFileSync(join(folder, 'bad.txt'), 'svc_sk_bad')
  t.match(await bare(['login', url, '--key', '@bad.txt']), { code: 1, stderr: /invalid or missing API key/ })
  t.throws(() => statSync(file), { code: 'ENOENT' }, 'what is not valid is not kept')

  t.match(await bare(['login', url, '--key', '@key.txt', '--profile', 'work']), { code: 0, stdout: client.workspaceId })
  t.equal(statSync(file).mode & 0o777, 0o600)
  t.equal(statSync(join(file, '..')).mode & 0o777, 0o700)
  t.strictSame(readdirSync(join(file, '..')), ['profiles.json', 'tree-heads.json'], 'no draft is left')
  t.equal(statSync(join(file, '../tree-heads.json')).mode & 0o777, 0o600)
  t.match(await bare([...CLAIM, '--param', 'see=present']), { code: 0 })

  t.match(await bare(['login', 'http://localhost:1', '--key', '@key.txt', '--profile', 'work']), {
    code: 2,
    stderr: /The profile work is of/,
  })
  const elsewhere = { CLAIMCHECK_URL: 'http://localhost:1' }
  t.match(await bare(CLAIM, elsewhere), { code: 1, stderr: /no key for/ }, 'a key is for its service alone')

  await bare(['login', url, '--key', '@key.txt', '--profile', 'home'])
  t.match(await bare(['profiles', 'list']), { code: 0, stdout: /\n +work +http.*\n\* +home/ })
  t.match(await bare(['profiles', 'use', 'work']), { code: 0 })
  t.match(await bare(['profiles', 'use', 'nobody']), {
    code: 1,
    stderr: /no profile nobody. There is work, home|There are work, home/,
  })
  t.match(await bare(CLAIM, { CLAIMCHECK_PROFILE: 'nobody' }), { code: 1, stderr: /no profile nobody/ })

  const { id, key } = await installation.claimcheck.keys.create(client.workspaceId, 'command line on desk')
  const { profiles } = JSON.parse(readFileSync(file, 'utf8'))
  const made = { ...profiles, made: { url, key, keyId: id } }
  writeFileSync(file, JSON.stringify({ current: 'work', profiles: made }), { mode: 0o600 })
  t.match(await bare(['logout', '--profile', 'made']), { code: 0, stdout: /Its key is revoked/ })
  t.equal(await installation.claimcheck.keys.authenticate(key, '127.0.0.1'), undefined)

  chmodSync(file, 0o644)
  t.match(await bare(['profiles', 'list']), { code: 1, stderr: /chmod 600/ })
  chmodSync(file, 0o600)
  t.match(await bare(['logout']), { code: 0, stdout: /profile work is gone.*still valid/s })
  t.notMatch(Object.keys(JSON.parse(readFileSync(file, 'utf8')).profiles), ['work'])
  t.match(await bare(CLAIM), { code: 1, stderr: /No service is named/ })
  writeFileSync(file, '{"profiles":{"x":{"url":1}}}', { mode: 0o600 })
  t.match(await bare(['profiles', 'list']), { code: 1, stderr: /not readable as profiles/ })
})
