/** Tickets: tokens that connect two steps of a sign-in in one browser. A ticket works once, for a few minutes, on every host. */
import type { Instant } from '@claimcheck/core/rules'
import type { Secrets } from '../../base/secrets.ts'
import { hashToken, isToken, newToken, recordContext } from '../../base/tokens.ts'
import type { Storage } from '../../storage/storage.ts'

export interface TicketService {
  /** Stores the payload encrypted, and returns the ticket for the browser. @param payload JSON data */
  issue(kind: TicketKind, payload: object): Promise<string>
  /**
   * Returns the payload and ends the ticket; undefined when it was taken before, has expired, or does not exist. Of two calls at the
   * same time, one gets the payload.
   */
  take(kind: TicketKind, ticket: string | undefined): Promise<unknown>
}

export type TicketKind = 'passkey_challenge' | 'outside_sign_in' | 'second_step'

const TTL_MS: Readonly<Record<TicketKind, number>> = {
  passkey_challenge: 5 * 60_000,
  // The person may have to sign in at the provider first.
  outside_sign_in: 10 * 60_000,
  second_step: 5 * 60_000,
}

interface TicketParts {
  readonly storage: Storage
  readonly secrets: Secrets
  readonly now: () => Instant
}

export function createTicketService(parts: TicketParts): TicketService {
  const { storage, now } = parts
  return {
    async issue(kind, payload) {
      const ticket = newToken()
      const idHash = hashToken(ticket)
      const at = now()
      // Reads `parts.secrets` here and not above, because opening the secrets creates the key file.
      const sealed = parts.secrets.seal(JSON.stringify(payload), recordContext(kind, idHash))
      const expiresAt = at + TTL_MS[kind]
      await storage.write(async (tx) => {
        await tx.records.removeExpired(at)
        await tx.records.put({ kind, idHash, payload: sealed, grantId: null, uid: null, consumedAt: null, expiresAt })
      })
      return ticket
    },
    async take(kind, ticket) {
      if (ticket === undefined || !isToken(ticket)) return undefined
      const idHash = hashToken(ticket)
      const row = await storage.read.records.find(kind, idHash)
      if (!row || row.expiresAt! <= now()) return undefined
      if (!(await storage.write((tx) => tx.records.remove(kind, idHash)))) return undefined
      return JSON.parse(parts.secrets.open(row.payload, recordContext(kind, idHash)))
    },
  }
}
