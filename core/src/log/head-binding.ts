/** Binds the root of an inclusion proof to its log: a signed tree head has it, or a consistency proof leads from it to a signed one. */
import { bytesEqual, fromBase64url } from '../encoding.ts'
import { isJsonObject, type JsonValue, objectIn } from '../json.ts'
import type { Proof } from '../receipt/body.ts'
import { isTreeHead } from '../receipt/schema.ts'
import { integerJson } from '../receipt/strict-json.ts'
import type { KeySet } from '../signing/key-set.ts'
import { parseInstant } from '../time.ts'
import { checkTreeHead } from './checker.ts'
import { areConnected } from './connected-roots.ts'

export type TreeHeadFinding =
  | {
      readonly tree_head: 'holds'
      /** The size of the tree in the signed head. */
      readonly tree_size: number
      readonly issued_at: string
    }
  /** `not_signed`: the text is no tree head, or no published key signed it. */
  | { readonly tree_head: 'not_signed' }
  | { readonly tree_head: 'other_log' }
  /** `other_root`: the log had another root at the size of the proof. */
  | { readonly tree_head: 'other_root' }
  /** `smaller_than_proof`: the head is of a smaller tree than the proof. The log was not so large then, or the proof's size was changed. */
  | { readonly tree_head: 'smaller_than_proof' }
  | { readonly tree_head: 'consistency_proof_required' }

type Root = Pick<Proof, 'log_id' | 'tree_size' | 'root_hash'>

/**
 * Tells whether a signed tree head confirms a proof's root.
 * @param proof a proof of inclusion under its own root: nothing else in it is signed
 * @param head a signed tree head, or the answer of `GET /v1/log/head`. Any text gives a finding.
 * @param consistency the log's consistency document from the size of the proof to that of the head, where they differ
 */
export function bindToHead(proof: Root, head: string, keys: KeySet, consistency: string | undefined): TreeHeadFinding {
  const signed = treeHeadIn(head)
  if (!isTreeHead(signed) || !checkTreeHead(JSON.stringify(signed), keys).valid) return { tree_head: 'not_signed' }
  const { log_id, tree_size, root_hash, issued_at } = signed.body
  if (log_id !== proof.log_id) return { tree_head: 'other_log' }
  // A proof leads from a smaller tree to a signed one only: the other way round, the size of the larger tree is open to change.
  if (tree_size < proof.tree_size) return { tree_head: 'smaller_than_proof' }
  const holds = { tree_head: 'holds', tree_size, issued_at } as const
  const proven = { treeSize: proof.tree_size, root: fromBase64url(proof.root_hash)! }
  const root = fromBase64url(root_hash)!
  if (tree_size === proof.tree_size) return bytesEqual(root, proven.root) ? holds : { tree_head: 'other_root' }
  if (consistency === undefined) return { tree_head: 'consistency_proof_required' }
  return areConnected(proven, { treeSize: tree_size, root }, consistency) ? holds : { tree_head: 'other_root' }
}

/**
 * Tells whether the log still contains a state that it signed before. A log that goes on as another one did not lose that state.
 * @param known a tree head that was kept
 * @param newest the log's tree head now
 * @param consistency the log's document from the size of the one to that of the other
 * @param now the time: a kept head that is younger than some minutes may be newer than what a replica has
 * @returns `lost` by two signed heads; `unknown` where a document is missing or no published key signed it
 */
export function compareHeads(
  known: string,
  newest: string,
  keys: KeySet,
  consistency: string | undefined,
  now: number,
): 'continues' | 'lost' | 'other_log' | 'unknown' {
  const kept = treeHeadIn(known)
  if (!isTreeHead(kept) || !checkTreeHead(JSON.stringify(kept), keys).valid) return 'unknown'
  const { tree_head: found } = bindToHead(kept.body, newest, keys, consistency)
  const isLagging = found === 'smaller_than_proof' && now - parseInstant(kept.body.issued_at)! < LONGEST_LAG_MS
  return isLagging && !isIssuedAfter(newest, kept.body.issued_at) ? 'unknown' : OF_STATES[found]
}

const LONGEST_LAG_MS = 300_000

function isIssuedAfter(head: string, at: string): boolean {
  const value = treeHeadIn(head)
  return isTreeHead(value) && value.body.issued_at > at
}

const OF_STATES = {
  holds: 'continues',
  other_root: 'lost',
  smaller_than_proof: 'lost',
  other_log: 'other_log',
  not_signed: 'unknown',
  consistency_proof_required: 'unknown',
} as const

/** The log's address of the proof from a kept tree head to its newest; undefined where none is needed or possible. */
export function headsPath(known: string, newest: string): string | undefined {
  const [first = 0, second = 0] = [treeSizeIn(known), treeSizeIn(newest)]
  return first > 0 && first < second ? `/v1/log/consistency?first=${first}&second=${second}` : undefined
}

/** The size of the tree in a tree head, signed or not; undefined for what is none. */
export function treeSizeIn(head: string): number | undefined {
  const value = treeHeadIn(head)
  return isTreeHead(value) ? value.body.tree_size : undefined
}

/** The log's address of the proof from a receipt's tree to the head's; undefined where none is needed or possible. */
export function consistencyPath(receipt: string, head: string | undefined): string | undefined {
  const { proof } = objectIn(receipt)
  const first = isJsonObject(proof) ? proof.tree_size : undefined
  const second = head === undefined ? undefined : treeSizeIn(head)
  if (typeof first !== 'number' || !Number.isSafeInteger(first) || second === undefined || first >= second) {
    return undefined
  }
  return `/v1/log/consistency?first=${first}&second=${second}`
}

/** The tree head in a text, alone or in the answer of a log; undefined for what a checker must not accept. */
function treeHeadIn(text: string): JsonValue | undefined {
  const value = integerJson(text)
  return isJsonObject(value) && value.tree_head !== undefined ? value.tree_head : value
}
