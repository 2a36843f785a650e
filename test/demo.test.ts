// Test run: end-to-end, slow, alone
/** The demo in each form that pages name, and the git server of the first claim: as whole programs, at the speed of this machine. */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import t from 'tap'
import { tamperedCopy, unexpectedVerdict } from '../scripts/demo/story.ts'
import { type Env, type Outcome, runProgram } from './support/command.ts'
import { createDatabase } from './support/database.ts'
import { IS_THOROUGH } from './support/extent.ts'

const execute = promisify(execFile)

/** In the environment of this process. */
const run = (script: string, args: readonly string[], over: Env = {}): Promise<Outcome> =>
  runProgram({ folder: '.', args, env: { ...process.env, ...over } as Env }, `build/scripts/${script}.js`)

const VERDICTS = [/✔ verified/, /◷ late/, /≠ mismatch/, /✘ failed/, /\? unverifiable/]

t.test('the story has five verdicts at trust level 2, and a tampered copy that does not verify', async (t) => {
  const { code, stdout, stderr } = await run('demo', ['--anchor'])
  t.equal(code, 0, stdout + stderr)
  for (const verdict of VERDICTS) t.match(stdout, verdict)
  t.equal(stdout.match(/^ {2}Valid receipt/gm)?.length, 5)
  t.match(stdout, /✔ anchored 5 entries on eip155:84532/)
  t.equal(stdout.match(/Trust level 2: anchored/g)?.length, 5)
  t.match(stdout, /verify tampered\.json --keys keys\.json --rpc \S+\n {2}NOT valid/)
  t.match(stdout, /Five claims, five verdicts, in \d+ s\.\n$/)
})

for (const dialect of IS_THOROUGH ? (['sqlite', 'postgres'] as const) : (['sqlite'] as const)) {
  t.test(`the tour gives every claim the right verdict, and leaves what is sound, on ${dialect}`, async (t) => {
    const database = await createDatabase(dialect, { isEmpty: true })
    t.teardown(() => database.remove())
    const { code, stdout, stderr } = await run('tour', [], database.env)
    t.equal(code, 0, stdout + stderr)
    const [, right, claims] = /(\d+) of (\d+) claims at \d+ destinations have the right verdict/.exec(stdout) ?? []
    t.ok(Number(claims) > 30)
    t.equal(right, claims)
  })
}

t.test('a step that fails says which, and why', async (t) => {
  const { code, stdout } = await run('demo', [], { PATH: '' })
  t.equal(code, 1)
  t.match(stdout, /1\. The agent pushes a commit to main, and says so\n\nThis step failed: .*git/)
})

t.test('a claim that ends otherwise is named, with its reason and its last check', async (t) => {
  const ended = {
    verdict: 'unverifiable',
    reason_code: 'destination_unavailable',
    last_check: { at: '2026-11-26T08:00:00Z', result: 'failed', code: 'timeout' },
  } as const
  t.match(unexpectedVerdict(2, 'late', ended), [/^Claim 2 should have ended late, .*destination_unavailable.*timeout/])
  t.strictSame(unexpectedVerdict(2, 'unverifiable', ended), [])
})

t.test('a tampered copy always says something else than the receipt', async (t) => {
  for (const value of ['verified', 'late', 'mismatch', 'failed', 'unverifiable']) {
    const receipt = { body: { verdict: { value, reason_code: 'any' }, receipt_id: 'rcpt_1' }, proof: {} }
    const { body, proof } = JSON.parse(tamperedCopy(JSON.stringify(receipt)))
    t.not(body.verdict.value, value)
    t.strictSame([body.receipt_id, proof], ['rcpt_1', {}])
  }
})

t.test(
  'the git server of the first claim serves a commit until it is stopped, and says so where its port is taken',
  async (t) => {
    const child = spawn(process.execPath, ['build/scripts/git-server.js', '--port', '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    t.teardown(() => child.kill('SIGKILL'))
    const said: string[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      said.push(line)
      if (line.includes('just pushed')) break
    }
    const text = said.join('\n')
    const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? []
    const [, sha] = /commit {2,}([0-9a-f]{40}),/.exec(text) ?? []
    const { stdout } = await execute('git', ['ls-remote', `${url}/acme/api.git`, 'refs/heads/main'])
    t.equal(stdout, `${sha}\trefs/heads/main\n`)

    const taken = await run('git-server', ['--port', new URL(url).port])
    t.match(taken, { code: 1, stderr: /Port \d+ is taken: stop what listens there/ })

    const ended = once(child, 'exit')
    child.kill('SIGINT')
    t.strictSame(await ended, [0, null])
  },
)
