/** Connections: what a workspace lets us read through. Secrets are sealed at rest and never come out again but into a check. */
import type { Connection, Instant, JsonObject } from '@claimcheck/core'

export interface ConnectionSummary {
  readonly id: string
  readonly workspaceId: string
  readonly provider: string
  readonly scopes: readonly string[]
  readonly connectedAt: Instant
  readonly disconnectedAt: Instant | null
  /** What can be verified through it. */
  readonly actions: readonly string[]
}

export interface ConnectionService {
  /** @throws ServiceError `invalid` for options that the provider's type refuses, `not_found` for an unknown provider */
  add(workspaceId: string, provider: string, options: JsonObject, scopes: readonly string[]): Promise<ConnectionSummary>
  /** Active ones, oldest first. */
  list(workspaceId?: string): Promise<readonly ConnectionSummary[]>
  /** @throws ServiceError `not_found` */
  remove(id: string): Promise<void>
  /** Active ones with their secrets, for checking. */
  open(workspaceId: string): Promise<readonly Connection[]>
}
