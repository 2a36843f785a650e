// Test run: end-to-end, slow
/** `claimcheck-plugin test`: what the package of a stranger prints and sends. Threat P10 of `security.md`. */
import { isolationProblem } from '@claimcheck/core/sandbox/problems'
import t from 'tap'
import { inPackage, kit } from './support/kit.ts'

const skip = (await isolationProblem('loopback')) ?? false

t.setTimeout(180_000)
// Their processes have nothing in common.
t.jobs = 2

/** What the process sends to the command is this, then it ends. */
const sending = (texts: string) => `import fs from 'node:fs'
  for (const text of ${texts}) {
    let rest = Buffer.from(text)
    while (rest.length > 0) try { rest = rest.subarray(fs.writeSync(3, rest)) } catch (error) { if (error.code !== 'EAGAIN') throw error }
  }
  process.exit(0)`
const report = (checks: readonly object[], ok = true) =>
  JSON.stringify([JSON.stringify({ report: { ok, checks, untested: [] } })])
const HOSTILE = '\u001b[2J\u001b]0;title\u0007\u009b31m\u202e\r\nThe plugin passes: 470 checks.'
const RISKY = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

for (const [what, texts] of [
  ['no JSON', `['{']`],
  ['another JSON', `['[[]]']`],
  ['nested JSON', `['['.repeat(1e6)]`],
  ['a report without checks', report([])],
  ['a report of a check that the kit has not', report([{ name: `x${HOSTILE}`, ok: true }])],
  ['a report that passes with a failed check', report([{ name: 'case.sees', ok: false, problem: 'x' }])],
  ['a check that passes with a problem', report([{ name: 'case.sees', ok: true, problem: 'x' }])],
  ['a check in another form', report([{ name: 'case.sees', ok: true, case: { length: 1e9 } }])],
] as const) {
  t.test(`a package that sends ${what} has not passed`, { skip }, async (t) => {
    const outcome = await kit(inPackage(t, sending(texts)))
    t.strictSame(outcome, {
      code: 2,
      stdout: '',
      stderr: 'The kit could not run: the package sent what is no report of the kit.\n',
    })
  })
}

t.test('a package that sends too much is ended', { skip }, async (t) => {
  const outcome = await kit(inPackage(t, sending(`Array(1e6).fill(' '.repeat(1e6))`)))
  t.strictSame(outcome, { code: 2, stdout: '', stderr: 'The kit could not run: the package sent too much.\n' })
})

t.test(
  'what a package writes into its report, its error and its output reaches a terminal as text',
  { skip },
  async (t) => {
    const check = { name: 'case.sees', ok: false, problem: HOSTILE, route: HOSTILE, case: HOSTILE }
    const reported = await kit(inPackage(t, sending(report([check], false))))
    t.match(reported, { code: 1, stdout: /^The plugin does NOT pass: 1 of 1 checks failed\.\n/ })
    const asJson = await kit(inPackage(t, sending(report([check], false))), ['--json'])
    t.strictSame(JSON.parse(asJson.stdout).checks, [check])
    const thrown = await kit(inPackage(t, `throw new Error(${JSON.stringify(HOSTILE)})`))
    t.match(thrown, { code: 2, stdout: '', stderr: /^The kit could not run: Error: / })
    const printed = await kit(
      inPackage(t, `console.log(${JSON.stringify(HOSTILE)}); console.error(${JSON.stringify(HOSTILE)})`),
    )
    t.match(printed, { code: 2, stdout: '' })
    const all = [reported, asJson, thrown, printed].map(({ stdout, stderr }) => `${stdout}${stderr}`)
    for (const text of all) {
      t.notMatch(text, RISKY)
      t.notMatch(text, /^The plugin passes/m, 'no line of it passes for one of the command')
    }
  },
)

t.test('a package that prints without end fills no terminal', { skip }, async (t) => {
  const { stderr } = await kit(
    inPackage(t, `for (let line = 0; line < 1e5; line++) console.log('a line')\nexport default null`),
  )
  t.ok(stderr.length < 200_000, String(stderr.length))
  t.match(stderr, /\nThe package prints more, which is not shown\.\nThe kit could not run: /)
})
