/** Tickets: tokens that connect two steps of a sign-in in one browser. A ticket works once, for a few minutes, on every host. */
import type { Instant } from '@claimcheck/core/rules'
import type { Secrets } from '../../base/secrets.ts'
import { hashToken, isToken, newToken, recordContext } from '../../base/tokens.ts'
import type { Storage } from '../../storage/storage.ts'

const TTL_MS = {
  passkey_challenge: 5 * 60_000,
  // A sign-in at the provider may take this long, because the person may have to sign in there first.
  outside_sign_in: 10 * 60_000,
  second_step: 5 * 60_000,
}

type TicketKind = keyof typeof TTL_MS

export type TicketService = ReturnType<typeof createTicketService>

export function createTicketService(parts: { storage: Storage; secrets: Secrets; now: () => Instant }) {
  const { storage, now } = parts
  return {
    /** Stores the payload encrypted, and returns the ticket for the browser. @param payload JSON data */
    async issue(kind: TicketKind, payload: object): Promise<string> {
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
    /**
     * Returns the payload and ends the ticket; undefined when it was taken before, has expired, or does not exist. Of two calls at the
     * same time, one gets the payload.
     */
    async take(kind: TicketKind, ticket: string | undefined): Promise<unknown> {
      if (ticket === undefined || !isToken(ticket)) return undefined
      const idHash = hashToken(ticket)
      const row = await storage.read.records.find(kind, idHash)
      if (!row || row.expiresAt! <= now()) return undefined
      if (!(await storage.write((tx) => tx.records.remove(kind, idHash)))) return undefined
      return JSON.parse(parts.secrets.open(row.payload, recordContext(kind, idHash)))
    },
  }
}
