/** Reports the check of a tree head, an inclusion document or a consistency document in lines for a person. */

import type { Contradiction, TreeHeadReport } from '@claimcheck/core/log'
import { isTreeHead } from '@claimcheck/core/receipts'
import type { JsonObject, JsonValue } from '@claimcheck/core/rules'
import { CONTRADICTION_WORDS } from '@claimcheck/core/words/checks'
import { visible } from '@claimcheck/core/words/plain-text'
import { type Fact, factLines } from './facts.ts'
import type { Paint } from './style.ts'

const HEAD_FAILURES: Readonly<Record<keyof TreeHeadReport['checks'], string>> = {
  shape: 'a member is missing, malformed or not allowed',
  key: 'the key document has no such key, or the key was not in use at the time of issue',
  signature: 'the signature does not fit the content and the key',
}

export function treeHeadReport(report: TreeHeadReport, head: JsonValue, paint: Paint): string[] {
  if (!report.valid || !isTreeHead(head)) {
    const name = (['shape', 'key', 'signature'] as const).find((check) => !report.checks[check])!
    return [paint('bad', `NOT valid, as a tree head: ${HEAD_FAILURES[name]}.`)]
  }
  const { log_id, tree_size, root_hash, issued_at } = head.body
  return [
    paint('good', `Valid tree head: the issuer signed this state of its log, with ${entries(tree_size)}.`),
    '',
    ...factLines([
      ['log', visible(log_id)],
      ['tree size', String(tree_size)],
      ['root', visible(root_hash)],
      ['issued at', visible(issued_at)],
      ['key', visible(head.signature.key_id)],
    ]),
  ]
}

/** Words for the proofs that nothing signs, by the kind of their document. */
const PROOFS = {
  inclusion: {
    problem: 'an inclusion document: the proof does not lead from the leaf to the root',
    says: ({ leaf_index, tree_size }: JsonObject) => `leaf ${leaf_index} is in the tree with ${entries(tree_size)}`,
    next: 'Compare the root with a signed tree head of the log.',
    facts: ({ leaf_hash, tree_size, root_hash }: JsonObject): Fact[] => [
      ['leaf', visible(String(leaf_hash))],
      ['root', rootWords(root_hash, tree_size)],
    ],
  },
  consistency: {
    problem: 'a consistency document: the proof does not connect the two roots',
    says: ({ first, second }: JsonObject) =>
      `the tree with ${entries(second)} begins with the tree with ${entries(first)}`,
    next: 'Compare both roots with signed tree heads of the log.',
    facts: ({ first, first_root, second, second_root }: JsonObject): Fact[] => [
      ['first root', rootWords(first_root, first)],
      ['second root', rootWords(second_root, second)],
    ],
  },
}

export type ProofKind = keyof typeof PROOFS

export function proofReport(kind: ProofKind, isValid: boolean, document: JsonValue, paint: Paint): string[] {
  const { problem, says, next, facts } = PROOFS[kind]
  if (!isValid) {
    return [paint('bad', `NOT valid, as ${problem}, or a member is missing or malformed.`)]
  }
  const members = document as JsonObject
  return [
    paint('doubtful', `Holds, and nothing signs it: ${says(members)}.`),
    next,
    '',
    ...factLines([['log', visible(String(members.log_id))], ...facts(members)]),
  ]
}

/** Reports a contradiction. @param isVouched true if the keys are not those of the file */
export function contradictionReport(
  contradiction: Contradiction,
  isVouched: boolean,
  document: JsonValue,
  paint: Paint,
): string[] {
  const words = CONTRADICTION_WORDS[contradiction]
  if (contradiction === 'none') return [paint('bad', words)]
  const { tree_head_of_client: client, tree_head_of_log: log } = document as JsonObject
  const stated = [client, log].map((head) => {
    const { tree_size, root_hash, issued_at } = (head as JsonObject).body as JsonObject
    return `${rootWords(root_hash, tree_size)}, issued at ${visible(String(issued_at))}`
  })
  const unvouched = "The keys are those of the file: name the issuer's key document with --keys."
  return [
    paint(contradiction === 'open' || !isVouched ? 'doubtful' : 'good', words),
    ...(isVouched ? [] : [unvouched]),
    '',
    ...factLines([
      ['client has', stated[0]!],
      ['log has', stated[1]!],
    ]),
  ]
}

function rootWords(root: JsonValue | undefined, size: JsonValue | undefined): string {
  return `${visible(String(root))} (${entries(size)})`
}

function entries(count: JsonValue | undefined): string {
  return `${count} ${count === 1 ? 'entry' : 'entries'}`
}
