/**
 * Who pays: an account has an allowance, or shares the one of another account, as its guest. Invited accounts share with those who invited
 * them: otherwise one account could multiply every limit by inviting more. Only the operator changes it.
 */
import type { Instant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { aboveInvited, allowanceOf, payerOf } from '../../base/payers.ts'
import type { UserRow } from '../../storage/people.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import { DEFAULT_LIMITS, type LimitsConfig } from '../workspaces/limits-config.ts'
import { requireAccount } from './current.ts'
import { spendOfPayer } from './daily-limits.ts'
import type { User } from './sessions.ts'

export interface Allowances {
  /** Gives the account an allowance, which those that it invited share from then on. @throws ServiceError `not_found` */
  separate(email: string, by?: Acting): Promise<void>
  /**
   * Lets the account, and those that it invited, share the allowance that another one has or shares.
   * @throws ServiceError `not_found`; `conflict` when that account shares with this one
   */
  share(email: string, withEmail: string, by?: Acting): Promise<void>
  /** With whom the account shares. */
  sharing(user: Pick<User, 'id' | 'payer'>): Promise<Sharing>
  /** Counts a download. @throws ServiceError `too_many` */
  spendExport(user: Pick<User, 'payer'>): Promise<void>
}

export interface Sharing {
  /** The name of the account with the allowance; null: this one has it. */
  readonly host: string | null
  /** How many accounts share the allowance of this one. */
  readonly guests: number
}

interface AllowanceParts {
  readonly storage: Storage
  readonly now: () => Instant
  readonly config?: LimitsConfig
}

export function createAllowances({ storage, now, config }: AllowanceParts): Allowances {
  const { exportsPerAccount } = config?.limits ?? DEFAULT_LIMITS

  function record(tx: Writes, { id: userId }: UserRow, sharesWith: string | null, by: Acting): void {
    const details = { shares_with: sharesWith }
    tx.audit.record({ event: 'account.allowance_changed', at: now(), by, userId, details })
  }

  return {
    separate: (email, by = byCommand()) =>
      storage.write(async (tx) => {
        const user = await requireAccount(tx, email)
        if (user.sharesWith === null) return
        await tx.users.share(user, null)
        record(tx, user, null, by)
      }),
    share: (email, withEmail, by = byCommand()) =>
      storage.write(async (tx) => {
        const user = await requireAccount(tx, email)
        const other = allowanceOf(payerOf(await requireAccount(tx, withEmail)))
        if (other === user.id) {
          const problem =
            user.email === withEmail.trim().toLowerCase()
              ? 'it is the same account'
              : 'that account shares with this one'
          throw new ServiceError('conflict', `${email} cannot share with ${withEmail}: ${problem}`)
        }
        if (other === user.sharesWith) return
        await tx.users.share(user, other)
        record(tx, user, other, by)
      }),
    async sharing({ id, payer }) {
      const allowance = allowanceOf(payer)
      if (allowance === id) return { host: null, guests: await storage.read.users.countOfGuests(id) }
      const host = await storage.read.users.byId(allowance)
      return { host: host?.name ?? allowance, guests: 0 }
    },
    async spendExport({ payer }) {
      const limit = 'limits.exports_per_account'
      const ofPayer = { kind: 'exports', most: exportsPerAccount, may: 'export', limit }
      await storage.write((tx) => spendOfPayer(tx, payer, ofPayer, now(), 'nothing was exported'))
    },
  }
}

/** What a new account stands below, by who invited it. Null: the command line did, and it has an allowance itself. */
export async function sharedByInvited(tx: Writes, inviterId: string | null): Promise<string | null> {
  const inviter = inviterId === null ? undefined : await tx.users.byId(inviterId)
  return inviter ? aboveInvited(inviter) : null
}
