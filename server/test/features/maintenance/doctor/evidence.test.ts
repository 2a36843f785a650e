// Test run: slow
/** What the doctor says of evidence: of what was changed in the database, and of what an issuer signed. Threat O3 of `security.md`. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { EvidenceFinding } from '@claimcheck/core/receipts'
import { evidenceProblems } from '@claimcheck/server/features/maintenance/doctor/evidence'
import type { Knex } from 'knex'
import t from 'tap'
import { afterFile } from '../../../../../test/support/after-file.ts'
import { changedCopy, diagnoseFile, finds, keepLog } from './kept-log.ts'

const kept = await keepLog()
afterFile(() => kept.remove())

const LEAF_3 = `(SELECT receipt_id FROM receipts WHERE leaf_index = 3)`
const changes: [what: string, change: (db: Knex) => Promise<unknown>, problem: RegExp][] = [
  [
    'changed bytes of evidence',
    (db) => db.raw(`UPDATE evidence SET document = document || ' ' WHERE receipt_id = ${LEAF_3}`),
    /^receipt rcpt_\w+ \(leaf 3\): its evidence is not the one whose digest it signs$/,
  ],
  [
    'missing evidence',
    (db) => db.raw(`DELETE FROM evidence WHERE receipt_id = ${LEAF_3}`),
    /^receipt rcpt_\w+ \(leaf 3\): its evidence is missing$/,
  ],
  [
    'empty evidence',
    (db) => db.raw(`UPDATE evidence SET document = '' WHERE receipt_id = ${LEAF_3}`),
    /^receipt rcpt_\w+ \(leaf 3\): its evidence is missing$/,
  ],
  [
    'evidence that no receipt names',
    (db) =>
      db.raw(`INSERT INTO evidence (log_id, receipt_id, document)
        SELECT log_id, receipt_id, '{}' FROM claims WHERE attempts = 3 AND receipt_id IS NOT NULL`),
    /^receipt rcpt_\w+ \(leaf \d+\): evidence is stored that it does not name$/,
  ],
  [
    'evidence of another receipt in its place',
    (db) =>
      db.raw(`UPDATE evidence SET document = (SELECT document FROM evidence WHERE receipt_id =
        (SELECT receipt_id FROM receipts WHERE leaf_index = 4)) WHERE receipt_id = ${LEAF_3}`),
    /^receipt rcpt_\w+ \(leaf 3\): its evidence is not the one whose digest it signs$/,
  ],
]
for (const [what, change, problem] of changes) {
  t.test(`${what} is found, and named`, async (t) => {
    const [file] = await changedCopy(t, kept.file, change)
    const { ok, problems } = await diagnoseFile(file)
    t.notOk(ok)
    finds(t, problems, problem)
  })
}

/** Of the receipt of a leaf, whose claim was checked once. */
async function changeCheck(db: Knex, leaf: number, change: (record: Record<string, unknown>) => void): Promise<void> {
  await db.raw('PRAGMA foreign_keys = OFF')
  const { claim_id } = await db('receipts').where('leaf_index', leaf).first()
  for (const [table, column] of [
    ['checks', 'record'],
    ['claims', 'last_check'],
  ] as const) {
    const { [column]: text } = await db(table).where({ claim_id }).first()
    const record = JSON.parse(text)
    change(record)
    await db(table)
      .where({ claim_id })
      .update({ [column]: JSON.stringify(record) })
  }
}

t.test('checks that say something else than the evidence are found, and named', async (t) => {
  const [file] = await changedCopy(t, kept.file, (db) =>
    changeCheck(db, 3, (record) => {
      record.clockOffsetMs = Number(record.clockOffsetMs) + 1
    }),
  )
  const { problems } = await diagnoseFile(file)
  finds(t, problems, /its evidence is not what claim clm_\w+ and its checks say$/)
})

const OTHER_CODE = `sha256:${'B'.repeat(42)}A`
const plugins: [what: string, change: (record: Record<string, unknown>) => void][] = [
  ['none', (record) => delete record.plugin],
  ['another package', (record) => Object.assign(record.plugin as object, { package: 'other' })],
  ['another version', (record) => Object.assign(record.plugin as object, { version: '9.9.9' })],
  ['other code', (record) => Object.assign(record.plugin as object, { codeHash: OTHER_CODE })],
]
for (const [what, change] of plugins) {
  t.test(`a check that names ${what} as its plugin, unlike its receipt, is found`, async (t) => {
    const [file] = await changedCopy(t, kept.file, (db) => changeCheck(db, 3, change))
    const { problems } = await diagnoseFile(file)
    t.match(problems, [/\(leaf 3\): claim clm_\w+ differs in observation\.verifier$/])
    t.equal(problems.length, 1)
  })
}

const VECTORS = 'test/vectors'
const SAID: Readonly<Record<EvidenceFinding['evidence'], RegExp | undefined>> = {
  absent: /evidence is stored that it does not name/,
  digest_differs: /is not the one whose digest it signs/,
  does_not_follow: /it does not follow from its evidence: \w/,
  not_checked: /rules that this version does not know/,
  follows: undefined,
}

t.test('evidence that its receipt does not follow from is found, in each way to cheat', async (t) => {
  const { evidence_vectors } = JSON.parse(readFileSync(join(VECTORS, 'manifest.json'), 'utf8'))
  // What only the published rules refuse: doctor holds evidence against the claim's own rows.
  const byRules = /^does_not_follow\/(deadline-past|facts-)/
  for (const { file, evidence, expected, rule } of evidence_vectors) {
    const { body } = JSON.parse(readFileSync(join(VECTORS, file), 'utf8'))
    const problems = evidenceProblems(body, readFileSync(join(VECTORS, evidence), 'utf8'), undefined)
    const said = byRules.test(rule) ? undefined : SAID[expected.evidence as EvidenceFinding['evidence']]
    if (said) t.match(problems, [said], file)
    else t.strictSame(problems, [], file)
  }
})
