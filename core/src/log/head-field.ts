/** Signed tree heads as an HTTP field, in requests and in answers: a dictionary of structured fields (RFC 9651). */
import type { JsonValue } from '../json.ts'
import { isTreeHead } from '../receipt/schema.ts'
import type { SignedTreeHead } from './tree-head.ts'

/** The name of the field. A request carries the newest head that the client has seen; an answer, the newest that the host knows. */
export const TREE_HEAD_FIELD = 'poaw-tree-head'

/** Limit of the characters of a field: longer texts are no tree head. */
export const LONGEST_HEAD_FIELD = 512

const MEMBER = /^[ \t]*([a-z_]+)=(?:"([\w:.-]*)"|(\d{1,16}))[ \t]*$/

export function headField({ body, signature }: SignedTreeHead): string {
  const { log_id, tree_size, root_hash, issued_at } = body
  const { key_id, value } = signature
  return `log_id="${log_id}", tree_size=${tree_size}, root_hash="${root_hash}", issued_at="${issued_at}", key_id="${key_id}", signature="${value}"`
}

/** Parses the field; undefined for what is no tree head. `checkTreeHead` tells whether the head is signed. */
export function readHeadField(text: string): SignedTreeHead | undefined {
  if (text.length > LONGEST_HEAD_FIELD) return undefined
  const members: Record<string, string | number> = {}
  for (const part of text.split(',')) {
    const [, name, words, digits] = MEMBER.exec(part) ?? []
    if (name === undefined) return undefined
    members[name] = words ?? Number(digits)
  }
  const { log_id, tree_size, root_hash, issued_at, key_id, signature: value } = members
  const body = { log_id, tree_size, root_hash, issued_at }
  const head = { body, signature: { alg: 'Ed25519', key_id, value } } as JsonValue
  return isTreeHead(head) ? head : undefined
}

/**
 * Chooses the field that says more of the log: of one log, that of the larger tree; of two logs, that which was issued later. Text that is no tree
 * head says nothing.
 */
export function newerHeadField(one: string | undefined, other: string | undefined): string | undefined {
  if (one === other || other === undefined) return one
  const [first, second] = [one === undefined ? undefined : readHeadField(one), readHeadField(other)]
  if (!first || !second) return first ? one : second && other
  const isNewer =
    first.body.log_id === second.body.log_id
      ? second.body.tree_size > first.body.tree_size
      : second.body.issued_at > first.body.issued_at
  return isNewer ? other : one
}
