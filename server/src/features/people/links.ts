/** Links that let people in: each works once, for some time, and for one purpose. */
import type { Instant } from '@claimcheck/core/rules'
import type { Acting } from '../../base/actor.ts'
import type { AuditEvent } from '../../base/audit-events.ts'
import { ServiceError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { hashToken, isToken, newToken } from '../../base/tokens.ts'
import type { AuditDetails } from '../../storage/audit-chain.ts'
import type { LinkRow } from '../../storage/sign-in.ts'
import type { Storage, Writes } from '../../storage/storage.ts'

export type LinkSubject = Pick<LinkRow, 'kind' | 'workspaceId' | 'role' | 'userId' | 'createdBy' | 'recipient'>

/** Puts a new link into a mail, in the transaction that makes it. */
export interface MailedLink {
  readonly recipient: string
  readonly mail: (tx: Writes, link: { readonly id: string; readonly token: string }) => Promise<void>
}

/** The subject of a link that no person or workspace made. */
export const OF_NOBODY = { workspaceId: null, role: null, userId: null, createdBy: null, recipient: null } as const

const HOUR_MS = 60 * 60_000
const KINDS = {
  setup: { lastsMs: 24 * HOUR_MS, made: 'service.setup_link_made' },
  invitation: { lastsMs: 7 * 24 * HOUR_MS, made: 'member.invited' },
  reset: { lastsMs: HOUR_MS, made: 'password.link_made' },
  address: { lastsMs: 24 * HOUR_MS, made: 'account.address_link_made' },
} as const satisfies Readonly<Record<LinkRow['kind'], { lastsMs: number; made: AuditEvent }>>

export type OpenLinks = ReturnType<typeof openLinks>

export function openLinks({ storage, now }: { storage: Storage; now: () => Instant }) {
  /** Finds a link; undefined when it was used, has expired or does not exist. */
  async function find(token: string): Promise<LinkRow | undefined> {
    const row = isToken(token) ? await storage.read.links.byHash(hashToken(token)) : undefined
    return row && row.usedAt === null && row.expiresAt > now() ? row : undefined
  }

  return {
    /** Makes a link, and returns the token for its address. Only the token's hash is stored. */
    async make(tx: Writes, subject: LinkSubject, by: Acting) {
      const token = newToken()
      const at = now()
      const { kind, workspaceId, userId, role } = subject
      const { lastsMs, made } = KINDS[kind]
      const id = newId('lnk_', at)
      const times = { createdAt: at, expiresAt: at + lastsMs, usedAt: null }
      await tx.links.insert({ ...subject, id, tokenHash: hashToken(token), ...times, undelivered: null })
      const details: AuditDetails = role === null ? {} : { role }
      tx.audit.record({ event: made, at, by, workspaceId, userId, subject: id, details })
      return { id, token }
    },
    find,
    /**
     * Finds a link of this kind.
     * @throws ServiceError `not_found`
     */
    async require(token: string, kind: LinkRow['kind']): Promise<LinkRow> {
      const row = await find(token)
      if (row?.kind !== kind) throw unusableLink()
      return row
    },
    /** Uses the link up. @throws ServiceError `not_found` */
    async use(tx: Writes, link: LinkRow): Promise<void> {
      if (!(await tx.links.use(link.id, now()))) throw unusableLink()
    },
  }
}

export function unusableLink(): ServiceError {
  return new ServiceError('not_found', 'this link cannot be used: it was used before, has expired, or was withdrawn')
}
