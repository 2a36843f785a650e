/** The hash chain of the audit trail: each entry's hash covers the entry and the hash before it. */

import { canonicalize, utf8 } from '@claimcheck/core/receipts'
import { formatInstant, type Instant, type JsonValue } from '@claimcheck/core/rules'
import { sha256 } from '../base/sha256.ts'

/** Flat, and without secrets. */
export type AuditDetails = Readonly<Record<string, string | number | boolean | null>>

export interface AuditEntry {
  /** From 1 on, without gaps. */
  readonly position: number
  readonly at: Instant
  readonly event: string
  readonly actorKind: string
  readonly actorId: string | null
  readonly address: string | null
  readonly workspaceId: string | null
  /** Whose account it is about. */
  readonly userId: string | null
  /** The id of what it is about, such as a key. */
  readonly subject: string | null
  readonly details: AuditDetails
}

/** Before the first entry. */
export const CHAIN_START: Uint8Array = new Uint8Array(32)

/** SHA-256 of the previous entry's hash and the canonical JSON (RFC 8785) of the entry, with the member names of the export. */
export function chainHash(previous: Uint8Array, entry: AuditEntry): Uint8Array {
  return documentHash(previous, chainedDocument(entry) as unknown as JsonValue)
}

/** The same, of an entry as an export has it. */
export function documentHash(previous: Uint8Array, document: JsonValue): Uint8Array {
  return sha256(Buffer.concat([previous, utf8(canonicalize(document))]))
}

/** An entry as an export writes it, without the two hashes. */
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
