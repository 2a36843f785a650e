/** The hash chain of the audit trail: each entry's hash covers the entry and the hash before it. */

import { canonicalize, utf8 } from '@claimcheck/core/receipts'
import { formatInstant, type Instant, type JsonValue } from '@claimcheck/core/rules'
import { sha256 } from '../base/sha256.ts'

/** Flat details of an audit entry, without secrets. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null>>

export interface AuditEntry {
  /** The number of the entry, from 1 on, without gaps. */
  readonly position: number
  readonly at: Instant
  readonly event: string
  readonly actorKind: string
  readonly actorId: string | null
  readonly address: string | null
  readonly workspaceId: string | null
  /** The user whose account the entry is about. */
  readonly userId: string | null
  /** The id of the entry's subject, such as a key. */
  readonly subject: string | null
  readonly details: AuditDetails
}

/** The hash that stands before the first entry of the chain. */
export const CHAIN_START: Uint8Array = new Uint8Array(32)

/** Hashes an entry: SHA-256 of the previous entry's hash and the canonical JSON (RFC 8785) of the entry, with the member names of the export. */
export function chainHash(previous: Uint8Array, entry: AuditEntry): Uint8Array {
  return documentHash(previous, chainedDocument(entry) as unknown as JsonValue)
}

/** Hashes an entry in the form that an export has, as `chainHash` does. */
export function documentHash(previous: Uint8Array, document: JsonValue): Uint8Array {
  return sha256(Buffer.concat([previous, utf8(canonicalize(document))]))
}

/** Makes the form of an entry in an export, without the two hashes. */
export function chainedDocument(entry: AuditEntry) {
  return {
    position: entry.position,
    at: formatInstant(entry.at),
    event: entry.event,
    actor: { kind: entry.actorKind, id: entry.actorId },
    address: entry.address,
    workspace_id: entry.workspaceId,
    user_id: entry.userId,
    subject: entry.subject,
    details: entry.details,
  }
}
