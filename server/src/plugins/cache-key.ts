/** Names the part of a plugin's memory that belongs to one connection. */
import type { Connection } from '@claimcheck/core/plugin'
import { sha256Text } from '../base/sha256.ts'

/**
 * Of one connection with its current credentials. What those can read stays hidden from other connections, and from this connection after
 * its credentials change.
 */
export function cacheKey(connection: Connection | null): string {
  if (!connection) return ''
  const { id, provider, options } = connection
  return `${sha256Text(JSON.stringify({ id, provider, options }))} `
}
