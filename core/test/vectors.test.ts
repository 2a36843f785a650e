/** Our own test vectors: the checker gives their expected results, the script makes them, and each rule has one. */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { VERDICTS } from '@claimcheck/core/rules'
import t from 'tap'
import { readManifest, runVectors } from './vector-suite.ts'

const FOLDER = 'test/vectors'

t.test('every vector of ours gets its expected result', async (t) => {
  await runVectors(t, FOLDER)
})

t.test('the script makes the vectors byte for byte as they are committed', async (t) => {
  const folder = t.testdir({})
  await promisify(execFile)(process.execPath, ['build/scripts/vectors.js', '--folder', folder])
  const files = readdirSync(folder).sort()
  t.strictSame(files, readdirSync(FOLDER).sort())
  for (const file of files) {
    t.ok(readFileSync(join(folder, file)).equals(readFileSync(join(FOLDER, file))), file)
  }
})

// When the first check fails, the others cannot be made and fail, too.
const FAIL_WITH: Readonly<Record<string, readonly string[]>> = { spec_version: ['schema'], key: ['signature'] }

const CHECKS = ['spec_version', 'schema', 'integers_only', 'key', 'signature', 'claim_digest', 'inclusion', 'policy']

t.test('for each check of an entry there is a vector that only this check refuses', async (t) => {
  const { vectors } = readManifest(FOLDER)
  const known = new Set(vectors.flatMap(({ expected }) => Object.keys(expected.checks!)))
  // The check of the anchor never makes an entry invalid.
  t.strictSame([...known].sort(), [...CHECKS, 'anchor'].sort())
  for (const check of CHECKS) {
    const alone = [check, ...(FAIL_WITH[check] ?? [])].sort()
    const refusedBy = vectors
      .filter(({ rule }) => rule!.startsWith(`${check}/`))
      .map(({ expected }) => failing(expected.checks!))
    t.ok(
      refusedBy.some((checks) => checks.join() === alone.join()),
      check,
    )
  }
})

t.test('for each check of a tree head there is a vector that it refuses', async (t) => {
  const refused = readManifest(FOLDER).tree_head_vectors.filter(({ expected }) => !expected.valid)
  for (const check of ['shape', 'key', 'signature']) {
    t.ok(
      refused.some(({ rule, expected }) => rule!.startsWith(check) && expected.checks![check] === false),
      check,
    )
  }
})

t.test('there is evidence for each finding, and for each verdict evidence that it follows from', async (t) => {
  const vectors = readManifest(FOLDER).evidence_vectors!
  const findings = new Set(vectors.map(({ expected }) => expected.evidence))
  t.strictSame([...findings].sort(), ['absent', 'digest_differs', 'does_not_follow', 'follows', 'not_checked'])
  const followed = vectors.filter(({ rule }) => rule === 'follows')
  const verdicts = followed.map(({ file }) => JSON.parse(readFileSync(join(FOLDER, file), 'utf8')).body.verdict.value)
  t.strictSame([...new Set(verdicts)].sort(), [...VERDICTS].sort())
  const rules = vectors.map(({ rule }) => rule).filter((rule) => rule !== 'follows')
  t.equal(new Set(rules).size, rules.length, 'each way to cheat has one')
})

t.test('each rule is broken by one vector at most', async (t) => {
  const { vectors, tree_head_vectors, consistency_vectors } = readManifest(FOLDER)
  const all = [...vectors, ...tree_head_vectors, ...consistency_vectors]
  const broken = all.filter(({ expected }) => !expected.valid)
  t.ok(broken.every(({ rule }) => !rule!.startsWith('valid')))
  for (const group of [vectors, tree_head_vectors, consistency_vectors]) {
    const rules = group.filter(({ expected }) => !expected.valid).map(({ rule }) => rule)
    t.equal(new Set(rules).size, rules.length)
  }
})

function failing(checks: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(checks)
    .filter((check) => checks[check] === false)
    .sort()
}
