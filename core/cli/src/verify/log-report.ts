/** Reports the check of a tree head, an inclusion document or a consistency document in lines for a person. */

import type { Contradiction, TreeHeadReport } from '@claimcheck/core/log'
import { isTreeHead } from '@claimcheck/core/receipts'
import type { JsonObject, JsonValue } from '@claimcheck/core/rules'
import { CONTRADICTION_WORDS } from '@claimcheck/core/words/checks'
import { visible } from '@claimcheck/core/words/plain-text'
import { factLines } from './facts.ts'
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

export function inclusionReport(isValid: boolean, document: JsonValue, paint: Paint): string[] {
  if (!isValid) {
    const problem = 'the proof does not lead from the leaf to the root, or a member is missing or malformed'
    return [paint('bad', `NOT valid, as an inclusion document: ${problem}.`)]
  }
  const { log_id, leaf_index, leaf_hash, tree_size, root_hash } = document as JsonObject
  return [
    paint('doubtful', `Holds, and nothing signs it: leaf ${leaf_index} is in the tree with ${entries(tree_size)}.`),
    'Compare the root with a signed tree head of the log.',
    '',
    ...factLines([
      ['log', visible(String(log_id))],
      ['leaf', visible(String(leaf_hash))],
      ['root', `${visible(String(root_hash))} (${entries(tree_size)})`],
    ]),
  ]
}

export function consistencyReport(isValid: boolean, document: JsonValue, paint: Paint): string[] {
  if (!isValid) {
    const problem = 'the proof does not connect the two roots, or a member is missing or malformed'
    return [paint('bad', `NOT valid, as a consistency document: ${problem}.`)]
  }
  const { log_id, first, first_root, second, second_root } = document as JsonObject
  return [
    paint(
      'doubtful',
      `Holds, and nothing signs it: the tree with ${entries(second)} begins with the tree with ${entries(first)}.`,
    ),
    'Compare both roots with signed tree heads of the log.',
    '',
    ...factLines([
      ['log', visible(String(log_id))],
      ['first root', `${visible(String(first_root))} (${entries(first)})`],
      ['second root', `${visible(String(second_root))} (${entries(second)})`],
    ]),
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
    return `${visible(String(root_hash))} (${entries(tree_size)}), issued at ${visible(String(issued_at))}`
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

function entries(count: JsonValue | undefined): string {
  return `${count} ${count === 1 ? 'entry' : 'entries'}`
}
