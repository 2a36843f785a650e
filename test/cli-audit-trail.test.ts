// Test run: end-to-end, slow
/** `claimcheck audit-trail`: what commands leave in it, what it lists, and files that are checked without the installation. */
import { spawnSync } from 'node:child_process'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { FEATURES } from '@claimcheck/server/features'
import { auditWordsOf } from '@claimcheck/server/host/composition'
import t from 'tap'
import { afterFile } from './support/after-file.ts'
import { runClaimcheck } from './support/command.ts'
import { Installation } from './support/installation.ts'
import { emailOf, PASSWORD, Visitor } from './support/visitor.ts'

const installation = await Installation.start({ file: { rate_limits: { sign_in: 0 } } })
afterFile(() => installation.remove())
const { host } = installation
const owner = await Visitor.first(host)
const workspaceId = await owner.workspaceId()

const folder = t.testdir()
const run = (...args: string[]) => runClaimcheck(folder, args, { ...installation.env, PUBLIC_URL: installation.url })
const trail = (...args: string[]) => run('audit-trail', ...args)

async function listed(...args: string[]) {
  const { code, stdout, stderr } = await trail(...args, '--json')
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}

t.test('commands that change something are recorded with the user of the machine, and without secrets', async (t) => {
  const user = `${userInfo().username}@${hostname()}`
  const { stdout } = await run('key', 'create', '--workspace', 'acme', '--name', 'by command', '--json')
  const { id, key } = JSON.parse(stdout)
  const reset = JSON.parse((await run('user', 'reset', owner.email, '--json')).stdout)
  for (const args of [
    ['key', 'revoke', id],
    ['workspace', 'create', 'second'],
    ['workspace', 'rename', 'second', 'other'],
    ['workspace', 'invite', 'other'],
    ['signing-key', 'rotate'],
  ]) {
    t.match(await run(...args), { code: 0 }, args.join(' '))
  }
  const entries = await listed('--limit', '20')
  const commands = ['signing_key.rotated', 'member.invited', 'workspace.renamed', 'member.joined', 'workspace.created']
  const events = [...commands, 'key.revoked', 'password.link_made', 'key.created']
  t.strictSame(
    entries.slice(0, events.length).map(({ event }: { event: string }) => event),
    events,
  )
  for (const entry of entries.slice(0, events.length)) {
    t.match(entry, { actor: { kind: 'command', id: user }, address: null, hash: /^[0-9a-f]{64}$/ })
  }
  const text = (await trail()).stdout
  t.match(text, `the command line (${user}) created an API key ${id} (name: by command`)
  t.match(text, /The newest entry of all is \d+, with the hash [0-9a-f]{64}\./)
  for (const secret of [key, new URL(reset.url).pathname.split('/').at(-1)!, PASSWORD]) t.notMatch(text, secret)
})

t.test('it is narrowed by workspace, account, event, time and text', async (t) => {
  await new Visitor(host).post('/console/sign-in', { email: owner.email, password: 'wrong' })
  const events = async (...args: string[]) => (await listed(...args)).map(({ event }: { event: string }) => event)
  t.strictSame(await events('--account', emailOf('owner'), '--event', 'sign_in.failed'), ['sign_in.failed'])
  const ofKeys: string[] = await events('--workspace', 'acme', '--event', 'key')
  t.ok(ofKeys.length > 1 && ofKeys.every((event) => event.startsWith('key.')))
  t.strictSame(await events('--workspace', workspaceId, '--event', 'workspace.renamed'), [])
  t.strictSame(await events('--until', '2020-01-01T00:00:00Z'), [])
  t.ok((await events('--since', '2020-01-01T00:00:00Z', '--search', 'BY COMMAND')).length >= 1)
  t.match((await trail('--limit', '1')).stdout, /There are older ones: add --limit, or --until \d{4}-/)
  t.match((await trail('--until', '2020-01-01T00:00:00Z')).stdout, /^No entries\./)

  const refusals: [args: string[], code: number, message: RegExp][] = [
    [['--limit', '0'], 2, /--limit takes a number from 1 to 10000, not 0/],
    [['--event', 'nothing'], 2, /There is no event or group nothing\. The events: account\.address_confirmed/],
    [['--since', 'yesterday'], 2, /--since takes a time such as/],
    [['--workspace', 'acme', '--account', 'x'], 2, /Use --workspace or --account, not both/],
    [['--workspace', 'none'], 1, /there is no workspace none/],
    [['--account', 'none@example.com'], 1, /there is no account with the address/],
    [['--check', 'a', '--export', 'b'], 2, /one of --export, --check and --compare/],
    [['--check', 'missing.jsonl'], 2, /missing\.jsonl: there is no such file/],
    [['--export', join('missing', 'file')], 2, /there is no such file or folder/],
  ]
  for (const [args, code, message] of refusals) t.match(await trail(...args), { code, stderr: message }, args.join(' '))
})

t.test('an export is checked anywhere, and compared with the installation that it came from', async (t) => {
  const file = join(folder, 'trail.jsonl')
  const { stdout } = await trail('--export', file, '--json')
  const { entries } = JSON.parse(stdout)
  const text = await readFile(file, 'utf8')
  const lines = text.trimEnd().split('\n')
  t.equal(lines.length, entries)
  t.match(JSON.parse(lines.at(-1)!), { event: 'audit_trail.exported', actor: { kind: 'command' } })
  t.equal((await stat(file)).mode & 0o077, 0, 'for its owner alone')
  t.match(await trail('--export', file), { code: 2, stderr: /there is a file of this name/ })
  t.equal((await trail('--export', '-', '--event', 'key.revoked')).stdout.trim().split('\n').length, 1)

  // No installation at all.
  const alone = (name: string) => runClaimcheck(folder, ['audit-trail', '--check', name], { DATABASE_URL: 'nonsense' })
  t.match(await alone(file), { code: 0, stdout: /positions 1 to \d+, without gaps\.\nEach has the hash/ })
  t.match(await trail('--compare', file), { code: 0, stdout: /The installation has the same entries\./ })

  const changed = join(folder, 'changed.jsonl')
  await writeFile(changed, text.replace('"by command"', '"by nobody"'))
  t.match(await alone(changed), { code: 1, stdout: /^Not sound\. line \d+: position \d+: its hash does not fit/ })
  const gap = join(folder, 'gap.jsonl')
  await writeFile(gap, `${lines.toSpliced(2, 1).join('\n')}\n`)
  t.match(await alone(gap), { code: 0, stdout: /with 1 gap: entries that the export left out, or that were removed/ })

  // A whole other chain is sound by itself, and is not what this installation has.
  const other = await Installation.start()
  t.teardown(() => other.remove())
  await Visitor.first(other.host)
  await runClaimcheck(folder, ['audit-trail', '--export', 'other.jsonl'], other.env)
  t.match(await alone(join(folder, 'other.jsonl')), { code: 0 })
  const compared = await trail('--compare', join(folder, 'other.jsonl'))
  t.match(compared, { code: 1, stdout: /^Not sound\. position 1: this installation has another entry there, or none/ })
})

t.test('the page about it lists every event, and its program computes the hashes of an export', async (t) => {
  const page = await readFile('server/docs/audit-trail.md', 'utf8')
  const rows = [...page.slice(page.indexOf('## Events')).matchAll(/^- `(\w+)`: (.*)\.$/gm)]
  const listed = rows.flatMap(([, group, events]) =>
    [...events!.matchAll(/`(\w+)`/g)].map(([, event]) => `${group}.${event}`),
  )
  t.strictSame(listed, Object.keys(auditWordsOf(FEATURES)).toSorted())
  const [, program] = /```python\n([^`]*)```/.exec(page)!
  await writeFile(join(folder, 'check.py'), program!)
  const file = join(folder, 'for-python.jsonl')
  await trail('--export', file)
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace('"by command"', '"Bÿ 😀 command"'))
  const { stdout } = spawnSync('python3', [join(folder, 'check.py'), file], { encoding: 'utf8' })
  const changed = text.split('\n').findIndex((line) => line.includes('"by command"')) + 1
  const lines = stdout.trim().split('\n')
  t.equal(lines.length, text.trim().split('\n').length)
  t.strictSame(
    lines.filter((line) => !line.endsWith(' sound')),
    [`${changed} CHANGED`],
  )
})
