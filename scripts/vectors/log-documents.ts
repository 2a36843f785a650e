/** Signed tree heads and consistency documents, good and bad. */

import { signTreeHead } from '@claimcheck/core/log'
import { DOMAINS, type Domain, toBase64url } from '@claimcheck/core/receipts'
import { parseInstant } from '@claimcheck/core/rules'
import { LOG_ID, smallLog } from './small-log.ts'
import {
  type Draft,
  edited,
  REVOKED_AT,
  sevenReceipts,
  sign,
  signerA,
  signerB,
  signerUnknown,
  toText,
  type Vector,
} from './world.ts'

export async function treeHeadVectors(): Promise<Vector[]> {
  const log = smallLog(await sevenReceipts())
  const head = (signer = signerA, issuedAt = '2026-09-25T14:05:00.000Z') =>
    signTreeHead(signer, { logId: LOG_ID, treeSize: 7, rootHash: log.root(7), issuedAt: parseInstant(issuedAt)! })
  const good: Draft = await head()
  const text = toText(good)
  const signed = async (body: object, domain: Domain = DOMAINS.treeHead) => toText(await sign(body, { domain }))
  const rows: [rule: string, description: string, text: string][] = [
    ['valid/first', 'A head of seven leaves.', text],
    ['signature/tampered', 'The size was changed after signing.', text.replace('"tree_size": 7', '"tree_size": 8')],
    ['signature/as-receipt', 'A head signed as a receipt.', await signed(good.body, DOMAINS.receipt)],
    ['key/unknown', 'The key is not published.', toText(await head(signerUnknown))],
    ['key/revoked', 'Issued when the key was revoked.', toText(await head(signerB, REVOKED_AT))],
    ['shape/extra-member', 'A fifth member, signed with the rest.', await signed({ ...good.body, note: '' })],
    ['shape/proof', 'A head has no proof.', toText({ ...good, proof: {} })],
    ['shape/float', 'A size with a fraction.', text.replace('"tree_size": 7', '"tree_size": 7.0')],
    ['shape/duplicate', 'A size twice.', text.replace('"tree_size": 7', '"tree_size": 7, "tree_size": 7')],
    ['shape/no-json', 'Not JSON.', 'head'],
    ['shape/timestamp', 'A time without fraction.', await signed({ ...good.body, issued_at: '2026-09-25T14:05:00Z' })],
  ]
  return rows.map(([rule, description, text]) => {
    // A check that does not hold takes those after it along.
    const holds = ['shape', 'key', 'signature', 'valid'].indexOf(rule.split('/')[0]!)
    const checks = { shape: holds > 0, key: holds > 1, signature: holds > 2 }
    return {
      name: `tree-head-${rule.replace('/', '-')}`,
      rule,
      description,
      text,
      expected: { valid: checks.signature, checks },
    }
  })
}

export async function consistencyVectors(): Promise<Vector[]> {
  const log = smallLog(await sevenReceipts())
  const good = await log.consistency(3, 7)
  const fromPerfect = await log.consistency(4, 7)
  const same = await log.consistency(7, 7)
  const edit = (change: (document: Draft) => void, document = good) => toText(edited(document, change))
  const rows: [rule: string, description: string, text: string, valid: boolean][] = [
    ['valid/3-7', 'Seven leaves begin with the first three.', toText(good), true],
    ['valid/4-7', 'From a size that is a power of two.', toText(fromPerfect), true],
    ['valid/same', 'The same tree: nothing to prove.', toText(same), true],
    ['first-root', 'The old root is another.', edit((proof) => (proof.first_root = toBase64url(log.root(2)))), false],
    ['second-root', 'The new root is another.', edit((proof) => (proof.second_root = toBase64url(log.root(6)))), false],
    ['swapped', 'The trees are swapped.', edit((proof) => Object.assign(proof, { first: 7, second: 3 })), false],
    ['first', 'The proof is for another size.', edit((proof) => (proof.first = 2)), false],
    ['zero', 'The empty tree is no beginning to prove.', edit((proof) => (proof.first = 0)), false],
    ['short', 'The proof ends early.', edit(({ proof }) => proof.pop()), false],
    ['long', 'The proof goes on beyond the root.', edit(({ proof }) => proof.push(proof[0])), false],
    ['empty', 'No proof at all.', edit((document) => (document.proof = [])), false],
    ['altered', 'A hash was altered.', edit(({ proof }) => (proof[0] = proof[1])), false],
    ['same-with-proof', 'The same tree, and a proof.', edit(({ proof }) => proof.push(good.proof[0]), same), false],
    [
      'same-other-root',
      'One size, two roots: a fork.',
      edit((proof) => (proof.first_root = good.first_root), same),
      false,
    ],
    ['float', 'A size with a fraction.', toText(good).replace('"first": 3', '"first": 3.0'), false],
    ['no-json', 'Not JSON.', 'proof', false],
  ]
  return rows.map(([rule, description, text, valid]) => ({
    name: `consistency-${rule.replace('/', '-')}`,
    rule: valid ? rule : `consistency/${rule}`,
    description,
    text,
    expected: { valid },
  }))
}
