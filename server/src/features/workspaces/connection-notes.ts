/** Notes how a connection was read, and records an event when it begins to fail. A chore of events records that this ended. */
import type { Instant } from '@claimcheck/core/rules'
import { BY_SERVICE } from '../../base/actor.ts'
import type { AuditDetails } from '../../storage/audit-chain.ts'
import type { NewEvent } from '../../storage/events.ts'
import type { Writes } from '../../storage/storage.ts'
import type { ConnectionFailure, ConnectionRow } from '../../storage/workspaces.ts'

/** The time for which a connection has to fail before an event tells of it: many outages are over before somebody reads of them. */
const PATIENCE_MS = 10 * 60_000

/**
 * Failures that say something about the connection, with the patience for each. Others are the mistake of a claim, as a target that is not there, or end
 * with the next minute. Refused credentials do not mend themselves.
 */
const PATIENCE: Readonly<Record<string, number>> = {
  unauthorized: 0,
  misconfigured: 0,
  unavailable: PATIENCE_MS,
  timeout: PATIENCE_MS,
  unexpected_response: PATIENCE_MS,
  verifier_error: PATIENCE_MS,
}

type ConnectionEvent = 'connection.failing' | 'connection.recovered' | 'connection.expiring'

export async function noteRead(tx: Writes, id: string, at: Instant): Promise<void> {
  await tx.connections.wasRead(id, at)
  await tx.connectionHealth.wasRead(id, at)
}

export async function noteFailure(tx: Writes, id: string, failure: ConnectionFailure): Promise<void> {
  const { askedAt, at, code } = failure
  const patience = PATIENCE[code]
  // Read before the failure is written, which may change the state.
  const connection = patience === undefined ? undefined : await tx.connections.activeById(id)
  await tx.connections.failed(id, failure)
  // A check that began before the newest read or trial may have failed by credentials that were replaced since.
  if (!connection || Math.max(connection.lastReadAt ?? 0, connection.stateAt ?? 0) > askedAt) return
  // An answer may be long in coming: a check that failed counts by the time at which it began.
  const told = patience === 0 ? at : askedAt - patience!
  if (!(await tx.connectionHealth.failed(id, at, told))) return
  recordEvent(tx, connection, { type: 'connection.failing', at, detail: code, details: { failure: code } })
}

/** Notes a read that followed a failure. The failure is told to nobody, but one that was told has not ended before it. */
export async function noteReadAfter(tx: Writes, id: string, failure: ConnectionFailure, at: Instant): Promise<void> {
  if (PATIENCE[failure.code] !== undefined) await tx.connectionHealth.interrupted(id)
  await noteRead(tx, id, at)
  await tx.connections.failed(id, failure)
}

/** Records what happened to a connection as an event, and in the audit trail, of which the owners get mail. */
export function recordEvent(
  tx: Writes,
  { id, workspaceId, name, provider }: Pick<ConnectionRow, 'id' | 'workspaceId' | 'name' | 'provider'>,
  {
    details,
    ...event
  }: Pick<NewEvent, 'at' | 'detail'> & { readonly type: ConnectionEvent; readonly details?: AuditDetails },
): void {
  const { type, at } = event
  tx.events.record({ ...event, workspaceId, subject: id })
  const told = { name: name ?? provider, ...details }
  tx.audit.record({ event: type, at, by: BY_SERVICE, workspaceId, subject: id, details: told })
}
