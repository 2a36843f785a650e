/** The Python package, by its own tests: its checker over the vectors and what random changes of receipts do, its clients against a service. */
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { checkReceipt, parseKeySet } from '@claimcheck/core'
import t from 'tap'
import { Installation } from './support/installation.ts'

const execute = promisify(execFile)
const FOLDER = 'core/python'
const MUTATIONS = 150

async function python(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
  const options = {
    cwd: FOLDER,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1', PYTHONPATH: '.', ...env },
    maxBuffer: 1 << 24,
  }
  const { stdout, stderr } = await execute('python3', [...args], options).catch((error) => {
    throw new Error(`${error.stdout}${error.stderr}`)
  })
  return stdout + stderr
}

t.test('its tests pass, also against a running service', async (t) => {
  const installation = await Installation.start()
  t.teardown(() => installation.remove())
  const { key } = await installation.client('python')
  const env = { CLAIMCHECK_URL: installation.url, CLAIMCHECK_KEY: key, CLAIMCHECK_TEST_ACTION: 'test.outcome.reach' }
  const said = await python(['-m', 'unittest', 'discover', '-s', 'tests'], env)
  t.match(said, /^Ran [2-9]\d tests in .*^OK$/ms)
  const skipped = /skipped=(\d+)/.exec(said)
  if (skipped) t.comment(`${skipped[1]} tests of it were skipped: the published test data is not there`)

  const client = await installation.client('mutations')
  const { claim_id } = (await client.submit()).body
  const { receipt_id } = await client.decided(claim_id)
  const texts = await Promise.all(
    [`/v1/receipts/${receipt_id}`, '/.well-known/poaw-keys.json'].map(async (path) =>
      (await fetch(installation.url + path)).text(),
    ),
  )
  const [receipt, keys] = texts as [string, string]
  const changed = [receipt, ...Array.from({ length: MUTATIONS }, (_, number) => changedAt(receipt, number))]
  const expected = await Promise.all(
    changed.map(async (text) => {
      const { valid, checks, verdict } = await checkReceipt(text, { keys: parseKeySet(keys) })
      return { valid, checks: { ...checks }, verdict }
    }),
  )
  const file = join(t.testdir(), 'receipts.json')
  await writeFile(file, JSON.stringify({ keys, receipts: changed }))
  t.same(JSON.parse(await python(['-c', REPORTS, file])), expected, 'both checkers say the same of each change')
  t.equal(expected.filter(({ valid }) => valid).length, 1)
})

const REPORTS = `
import json, sys
from claimcheck import check_receipt, parse_keys
given = json.load(open(sys.argv[1]))
keys = parse_keys(given["keys"])
reports = [check_receipt(text, keys) for text in given["receipts"]]
print(json.dumps([{"valid": r.valid, "checks": dict(r.checks), "verdict": r.verdict} for r in reports]))
`

/** One character within body or signature is another: each time another place, and another character. */
function changedAt(text: string, number: number): string {
  const end = text.indexOf('"proof"')
  const at = 1 + ((number * 7919) % ((end < 0 ? text.length : end) - 3))
  const others = '"{}[]:,0919aZ-.\\_eé'.split('').filter((other) => other !== text[at])
  return text.slice(0, at) + others[number % others.length] + text.slice(at + 1)
}
