/** The likeness of claims: they have the same agent, action and verdict. */
import { createHmac } from 'node:crypto'
import type { ClaimTraits } from '../../storage/webhooks.ts'

/**
 * Makes a hash that claims of one likeness share. It is keyed, so that the database does not tell the agent of a claim that was erased.
 * @param key a secret of the target
 */
export function likenessOf(key: string, { agentId, action, verdict }: ClaimTraits): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([agentId, action, verdict]))
    .digest('base64url')
}
