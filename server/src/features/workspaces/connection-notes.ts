/** Notes how a connection was read, and records an event when it begins to fail and when that ends. */
import type { Instant } from '@claimcheck/core/rules'
import type { EventType } from '../../storage/events.ts'
import type { Writes } from '../../storage/storage.ts'
import type { ConnectionFailure } from '../../storage/workspaces.ts'

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

export async function noteRead(tx: Writes, id: string, at: Instant): Promise<void> {
  await tx.connections.wasRead(id, at)
  if (await tx.connectionHealth.wasRead(id, at)) await record(tx, 'connection.recovered', id, at, null)
}

export async function noteFailure(tx: Writes, id: string, failure: ConnectionFailure): Promise<void> {
  const { at, code } = failure
  await tx.connections.failed(id, failure)
  const patience = PATIENCE[code]
  if (patience === undefined) return
  if (await tx.connectionHealth.failed(id, at, patience)) await record(tx, 'connection.failing', id, at, code)
}

async function record(tx: Writes, type: EventType, id: string, at: Instant, detail: string | null): Promise<void> {
  const connection = await tx.connections.activeById(id)
  if (connection) tx.events.record({ workspaceId: connection.workspaceId, type, at, subject: id, detail })
}
