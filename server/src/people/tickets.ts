/** Tickets: what one browser carries between two steps of coming in. Each is good once and for a few minutes, on every host. */
import type { Instant } from '@claimcheck/core'
import type { Secrets } from '../base/secrets.ts'
import { hashToken, isToken, newToken, recordContext } from '../base/tokens.ts'
import type { Storage } from '../storage/storage.ts'

export interface TicketService {
  /** @param payload plain data, which nobody else sees. Returns what the browser keeps */
  issue(kind: TicketKind, payload: object): Promise<string>
  /** What was put into it; undefined when it was taken before, has run out, or never was. Of two who take it at once, one does. */
  take(kind: TicketKind, ticket: string | undefined): Promise<unknown>
}

export type TicketKind = 'passkey_challenge' | 'outside_sign_in'

const LASTS_MS: Readonly<Record<TicketKind, number>> = {
  passkey_challenge: 5 * 60_000,
  // Somebody may have to sign in there first.
  outside_sign_in: 10 * 60_000,
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
      // Asked for here: the key is made when something is sealed first.
      const sealed = parts.secrets.seal(JSON.stringify(payload), recordContext(kind, idHash))
      const expiresAt = at + LASTS_MS[kind]
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
