/**
 * Who pays: an account has an allowance, or shares the one of another account. Invited accounts share with those who invited them:
 * otherwise one account could multiply every limit by inviting more. Only the operator changes it.
 */
import type { Instant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { payerOf, type UserRow } from '../../storage/people.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import { DEFAULT_LIMITS, type LimitsConfig } from '../workspaces/limits-config.ts'
import { countDaily } from './daily-limits.ts'

export interface Allowances {
  /** Gives the account an allowance. Accounts that share with it, or with the same account as it did, stay as they are. @throws ServiceError `not_found` */
  separate(email: string, by?: Acting): Promise<void>
  /**
   * Lets the account, and those that share with it, share the allowance of another one.
   * @throws ServiceError `not_found`; `conflict` when that account shares with this one
   */
  share(email: string, withEmail: string, by?: Acting): Promise<void>
  /** Counts a download. @throws ServiceError `too_many` */
  spendExport(user: { readonly payer: string }): Promise<void>
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
        await tx.users.separate(user.id)
        record(tx, user, null, by)
      }),
    share: (email, withEmail, by = byCommand()) =>
      storage.write(async (tx) => {
        const user = await requireAccount(tx, email)
        const payer = payerOf(await requireAccount(tx, withEmail))
        if (payer === user.id) {
          const problem =
            user.email === withEmail.trim().toLowerCase()
              ? 'it is the same account'
              : 'that account shares with this one'
          throw new ServiceError('conflict', `${email} cannot share with ${withEmail}: ${problem}`)
        }
        if (payer === user.sharesWith) return
        await tx.users.share(user.id, payer)
        record(tx, user, payer, by)
      }),
    async spendExport({ payer }) {
      const subject = `exports by ${payer}`
      const spent = await storage.write((tx) => countDaily(tx, [{ subject, most: exportsPerAccount }], now()))
      const { isWithin = true, expiresAt = now() } = spent.get(subject) ?? {}
      if (isWithin) return
      const rule = `you, and those you share an allowance with, download at most ${exportsPerAccount} files a day`
      const advice = 'Try again later, or ask the operator to raise limits.exports_per_account'
      throw new ServiceError('too_many', `nothing was exported: ${rule}. ${advice}`, {
        retryAfterMs: expiresAt - now(),
      })
    },
  }
}

/** With which account a new account shares, by who invited it. Null: the command line did, and it has an allowance itself. */
export async function sharedByInvited(tx: Writes, inviterId: string | null): Promise<string | null> {
  const inviter = inviterId === null ? undefined : await tx.users.byId(inviterId)
  return inviter ? payerOf(inviter) : null
}

/** Locks it. @throws ServiceError `not_found` */
async function requireAccount(tx: Writes, email: string): Promise<UserRow> {
  const found = await tx.users.byEmail(email.trim().toLowerCase())
  const user = found && (await tx.users.lock(found.id))
  if (user && user.closedAt === null) return user
  throw new ServiceError('not_found', `there is no account with the address ${email}`)
}
