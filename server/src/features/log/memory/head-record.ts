/**
 * The newest head of a log as memories store it: a record in which a damage is found, and after it the last signed head of each key before,
 * one a line. A database from before rotations has only the keys of then: by them it learns what it lacks.
 */
import { HASH_BYTES } from '@claimcheck/core/log'
import { bytesEqual, fromBase64url, toBase64url } from '@claimcheck/core/receipts'
import { formatInstant, jsonIn, parseInstant } from '@claimcheck/core/rules'
import { sha256Text } from '../../../base/sha256.ts'
import type { LogState } from '../../../storage/log-state.ts'

export interface Head extends Pick<LogState, 'logId' | 'name' | 'treeSize' | 'rootHash' | 'issuedAt'> {
  /** The signed tree head as JSON, by which others believe it; of an earlier state, where this one came without. */
  readonly signed?: string | undefined
  /** The processes of hosts that share a database and write here each head that they sign, before its answer. */
  readonly hosts?: readonly string[] | undefined
  /** Names the HEAD_MEMORY that had a record of the log, too. */
  readonly memory?: string | undefined
  /** The transaction that attests it: it is no head that a key of the log signed. */
  readonly transaction?: string | undefined
}

/** The signed head that the next record replaces, where another key signed it. */
export function retiredBy(next: Head, { logId, signed }: Head): string | undefined {
  const isRetired = logId === next.logId && signed && next.signed && keyOf(signed) !== keyOf(next.signed)
  return isRetired ? signed : undefined
}

/** A head keeps what it comes without of the state before: its signature, hosts, and that there was another memory. */
export function following(head: Head, before: Head | undefined): Head {
  if (before?.logId !== head.logId) return head
  const { signed = before.signed, memory = before.memory } = head
  return { ...head, signed, memory, hosts: mergeEntries(head.hosts, before.hosts) }
}

export function isSame(one: Head, other: Head): boolean {
  return one.logId === other.logId && one.treeSize === other.treeSize && bytesEqual(one.rootHash, other.rootHash)
}

export function isBefore(one: Head, other: Head): boolean {
  return one.logId === other.logId && one.treeSize < other.treeSize
}

/** Where writing ended halfway, a line is no JSON, and counts for nothing. */
export function readRetired(lines: string): readonly string[] {
  return lines.split('\n').filter((line) => line.trim() !== '' && jsonIn(line) !== undefined)
}

/** The entries of a record, in which a later process of a host replaces the one before. */
function mergeEntries(own: readonly string[] = [], others: readonly string[] = []): readonly string[] | undefined {
  const hostOf = (entry: string) => entry.split('/')[0]
  const hosts = new Set(own.map(hostOf))
  const entries = [...own, ...others.filter((entry) => !hosts.has(hostOf(entry)))]
  return entries.length > 0 ? entries : undefined
}

function keyOf(signed: string): unknown {
  return JSON.parse(signed).signature.key_id
}

/** @returns one line */
export function toRecord({ logId, name, treeSize, rootHash, issuedAt, signed, hosts, memory }: Head): string {
  const fields = {
    log_id: logId,
    name,
    tree_size: treeSize,
    root_hash: toBase64url(rootHash),
    issued_at: formatInstant(issuedAt),
    signed,
    hosts,
    memory,
  }
  return JSON.stringify(Object.assign(fields, { digest: digestOf(fields) }))
}

/** Undefined where it is damaged. */
export function fromRecord(text: string): Head | undefined {
  try {
    const { digest, ...fields } = JSON.parse(text)
    const { log_id: logId, name, tree_size: treeSize, root_hash, issued_at, ...more } = fields
    const rootHash = fromBase64url(root_hash, HASH_BYTES)
    const issuedAt = parseInstant(issued_at)
    if (digest !== digestOf(fields) || !rootHash || issuedAt === undefined) return undefined
    return { logId, name, treeSize, rootHash, issuedAt, ...more }
  } catch {
    return undefined
  }
}

/** Detects a record that was partly written or read. It does not protect against deliberate changes. */
function digestOf(fields: object): string {
  return sha256Text(JSON.stringify(fields))
}
