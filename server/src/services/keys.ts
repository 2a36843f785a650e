/** API keys: made once, kept as a hash, and revoked for good. */
import type { Instant } from '@claimcheck/core'

/** Who a request speaks for. */
export interface Credential {
  readonly kind: 'key'
  readonly keyId: string
  readonly workspaceId: string
}

export interface ApiKey {
  readonly id: string
  readonly workspaceId: string
  readonly name: string
  /** The key's last four characters. */
  readonly lastFour: string
  readonly createdAt: Instant
  readonly revokedAt: Instant | null
}

export interface KeyService {
  /** The key's text is in this answer and nowhere else. */
  create(workspaceId: string, name: string): Promise<{ readonly id: string; readonly key: string }>
  list(workspaceId?: string): Promise<readonly ApiKey[]>
  /** @throws ServiceError `not_found` */
  revoke(id: string): Promise<ApiKey>
  /** Looks the key up afresh each time: a revocation holds at the next request. */
  authenticate(key: string): Promise<Credential | undefined>
}
