// Test run: slow
/**
 * What the doctor says of an installation in which content was erased, and of one in which that was not done by the rules.
 * Threat O9 of `security.md`.
 */
import { byCommand } from '@claimcheck/server/base/actor'
import { openClaimcheck } from '@claimcheck/server/claimcheck'
import { loadConfig } from '@claimcheck/server/features'
import t from 'tap'
import { afterFile } from '../../../../../test/support/after-file.ts'
import { FEW_LEAVES, SECRET_KEY } from './installation.ts'
import { diagnoseFile, finds, keepLog, problemsAfter } from './kept-log.ts'

const kept = await keepLog({ leaves: FEW_LEAVES, anchors: false })
afterFile(() => kept.remove())

/** Of a claim of a known action, of an unknown one, with three checks, and the newest. */
const ERASED = [0, 1, FEW_LEAVES - 2, FEW_LEAVES - 1]

t.before(async () => {
  const config = loadConfig({ LOG_LEVEL: 'silent', SECRET_KEY, DATABASE_URL: `sqlite:${kept.file}` }, t.testdir())
  const claimcheck = await openClaimcheck(config, { plugins: false })
  const rows = await claimcheck.storage.read.log.receipts(
    (await claimcheck.storage.read.log.state())!.logId,
    0,
    FEW_LEAVES,
  )
  for (const leaf of ERASED) {
    const reason = { rule: 'personal_data', reference: '' } as const
    await claimcheck.erasure.erase(rows[leaf]!.receiptId, reason, byCommand())
  }
  await claimcheck.close()
})

t.test('a log of which some content was erased is in order', async (t) => {
  for (const signatures of [false, true]) {
    t.strictSame(await diagnoseFile(kept.file, signatures), { ok: true, problems: [], notices: [], leaves: FEW_LEAVES })
  }
})

const RECEIPT_0 = '(SELECT receipt_id FROM receipts WHERE leaf_index = 0)'
const CLAIM_0 = '(SELECT claim_id FROM receipts WHERE leaf_index = 0)'
const LEAF_3 = 'FROM receipts WHERE leaf_index = 3'
const setErasure = (change: string) => `UPDATE erasures SET ${change} WHERE receipt_id = ${RECEIPT_0}`
const setClaim = (change: string) => `UPDATE claims SET ${change} WHERE claim_id = ${CLAIM_0}`
const setReceipt = (change: string, leaf: number) => `UPDATE receipts SET ${change} WHERE leaf_index = ${leaf}`

const statements: [what: string, statement: string, named: RegExp][] = [
  ['content that nobody erased', setReceipt("entry = ''", 3), /\(leaf 3\): its content is missing, and no erasure/],
  [
    'evidence that nobody erased',
    `DELETE FROM evidence WHERE receipt_id = (SELECT receipt_id ${LEAF_3})`,
    /\(leaf 3\): its evidence is missing/,
  ],
  [
    'checks that nobody erased',
    `DELETE FROM checks WHERE claim_id = (SELECT claim_id ${LEAF_3})`,
    /^claim .*: attempts is 1/,
  ],
  [
    'an erasure that is not there any more',
    `DELETE FROM erasures WHERE receipt_id = ${RECEIPT_0}`,
    /\(leaf 0\): its content is missing, and no erasure/,
  ],
  [
    'an erasure of what is there',
    `INSERT INTO erasures SELECT receipt_id, claim_id, log_id, leaf_index, leaf_hash, issued_at, issued_at, 'secret', ''
      ${LEAF_3}`,
    /^erasure of rcpt_\w+: the content of the receipt is there/,
  ],
  ['an erasure of no receipt', setErasure("receipt_id = 'rcpt_x'"), /^erasure of rcpt_x: there is no such receipt/],
  ['an erasure of another claim', setErasure("claim_id = 'clm_x'"), /names another claim than the receipt/],
  ['an erasure before the receipt', setErasure('erased_at = 1'), /erased_at is before the receipt was issued/],
  ['an unknown rule', setErasure("rule = 'whim'"), /there is no such rule/],
  [
    'another leaf',
    setReceipt('leaf_hash = zeroblob(32)', 0),
    /^tree head \d+: root_hash is not the root of the leaves/,
  ],
  [
    'another leaf in the erasure',
    setErasure('leaf_index = 4'),
    /^erasure of rcpt_\w+: leaf_index, leaf_hash or issued_at differs/,
  ],
  ['no leaf', setReceipt("leaf_hash = x'00'", 0), /\(leaf 0\): leaf_hash is not a hash/],
  ['another time', setReceipt('issued_at = 1', 1), /\(leaf 1\): issued_at is not between/],
  [
    'evidence that is there again',
    `INSERT INTO evidence SELECT log_id, ${RECEIPT_0}, document FROM evidence LIMIT 1`,
    /\(leaf 0\): it is erased, and its evidence is there/,
  ],
  [
    'a check that is there again',
    `INSERT INTO checks SELECT ${CLAIM_0}, 1, record FROM checks LIMIT 1`,
    /^claim \w+: it is erased, and its checks are there/,
  ],
  ...['agent_id', 'target', 'params', 'claim_digest', 'last_check'].map((column): [string, string, RegExp] => [
    `${column} that is there again`,
    setClaim(`${column} = '{"a":1}'`),
    new RegExp(`^claim \\w+: it is erased, and ${column} has content`),
  ]),
  [
    'an origin',
    setClaim("origin = 'https://a.example', access = 'anonymous', connection_id = NULL"),
    /it is erased, and origin has content/,
  ],
  ['its own id', setClaim("client_claim_id = 'jane'"), /client_claim_id is not what an erasure leaves of it/],
  ['a claim that waits', setClaim("state = 'queued'"), /it is erased, and it is not decided/],
  ['the receipt of another', setClaim("receipt_id = 'rcpt_x'"), /\(leaf 0\): claim \w+ differs in receipt_id/],
  ['a claim that is gone', `DELETE FROM claims WHERE claim_id = ${CLAIM_0}`, /\(leaf 0\): its claim is missing/],
  [
    'a retention of no workspace',
    `INSERT INTO retentions VALUES ('ws_x', 90, 1, 1)`,
    /^retentions ws_x: there is no workspaces ws_x/,
  ],
]

for (const [what, statement, named] of statements) {
  t.test(`found: ${what}`, async (t) => {
    finds(t, await problemsAfter(t, kept.file, statement), named)
  })
}
