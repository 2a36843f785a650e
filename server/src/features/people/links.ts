/** Links that let people in: each works once, for some time, and for what it was made for. */
import type { Instant } from '@claimcheck/core/rules'
import type { Acting } from '../../base/actor.ts'
import type { AuditDetails } from '../../base/audit-chain.ts'
import type { AuditEvent } from '../../base/audit-events.ts'
import { ServiceError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { hashToken, isToken, newToken } from '../../base/tokens.ts'
import type { LinkRow } from '../../storage/sign-in.ts'
import type { Storage, Writes } from '../../storage/storage.ts'

export type LinkSubject = Pick<LinkRow, 'kind' | 'workspaceId' | 'role' | 'userId' | 'createdBy' | 'recipient'>

export interface MadeLink {
  readonly id: string
  readonly token: string
}

/** Puts a new link into a mail, in the transaction that makes it. */
export interface MailedLink {
  readonly recipient: string
  readonly mail: (tx: Writes, link: MadeLink) => Promise<void>
}

/** Of a link that no person or workspace made. */
export const OF_NOBODY = { workspaceId: null, role: null, userId: null, createdBy: null, recipient: null } as const

export interface OpenLinks {
  /** The token for the address is not stored. */
  make(tx: Writes, subject: LinkSubject, by: Acting): Promise<MadeLink>
  /** Undefined when the link was used, has expired or does not exist. */
  find(token: string): Promise<LinkRow | undefined>
  /** @throws ServiceError `not_found` */
  require(token: string, kind: LinkRow['kind']): Promise<LinkRow>
  /** Uses it up. @throws ServiceError `not_found` */
  use(tx: Writes, link: LinkRow): Promise<void>
}

const HOUR_MS = 60 * 60_000
const LASTS_MS: Readonly<Record<LinkRow['kind'], number>> = {
  setup: 24 * HOUR_MS,
  invitation: 7 * 24 * HOUR_MS,
  reset: HOUR_MS,
  address: 24 * HOUR_MS,
}

const MADE = {
  setup: 'service.setup_link_made',
  invitation: 'member.invited',
  reset: 'password.link_made',
  address: 'account.address_link_made',
} as const satisfies Readonly<Record<LinkRow['kind'], AuditEvent>>

export function openLinks({ storage, now }: { storage: Storage; now: () => Instant }): OpenLinks {
  async function find(token: string): Promise<LinkRow | undefined> {
    const row = isToken(token) ? await storage.read.links.byHash(hashToken(token)) : undefined
    return row && row.usedAt === null && row.expiresAt > now() ? row : undefined
  }

  return {
    async make(tx, subject, by) {
      const token = newToken()
      const at = now()
      const times = { createdAt: at, expiresAt: at + LASTS_MS[subject.kind], usedAt: null }
      const id = newId('lnk_', at)
      await tx.links.insert({ ...subject, id, tokenHash: hashToken(token), ...times, undelivered: null })
      const { kind, workspaceId, userId, role } = subject
      const details: AuditDetails = role === null ? {} : { role }
      tx.audit.record({ event: MADE[kind], at, by, workspaceId, userId, subject: id, details })
      return { id, token }
    },
    find,
    async require(token, kind) {
      const row = await find(token)
      if (row?.kind !== kind) throw unusableLink()
      return row
    },
    async use(tx, link) {
      if (!(await tx.links.use(link.id, now()))) throw unusableLink()
    },
  }
}

export function unusableLink(): ServiceError {
  return new ServiceError('not_found', 'this link cannot be used: it was used before, has expired, or was withdrawn')
}
