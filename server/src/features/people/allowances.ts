/**
 * Who pays: an account has an allowance, or shares the one of another account, as its guest. Invited accounts share with those who invited
 * them: otherwise one account could multiply every limit by inviting more. Only the operator changes it.
 */
import type { Instant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { allowanceOf, payerOf } from '../../base/payers.ts'
import type { UserRow } from '../../storage/people.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import { DEFAULT_LIMITS, type LimitsConfig } from '../workspaces/limits-config.ts'
import { requireAccount } from './current.ts'
import { spendOfPayer } from './daily-limits.ts'
import type { User } from './sessions.ts'

export interface Sharing {
  /** The name of the account with the allowance; null when this account has it. */
  readonly host: string | null
  /** The number of accounts that share the allowance of this one. */
  readonly guests: number
}

export type Allowances = ReturnType<typeof createAllowances>

/** The parameter `by` of each method is who does it; by default the command line. */
export function createAllowances(parts: { storage: Storage; now: () => Instant; config?: LimitsConfig }) {
  const { storage, now, config } = parts
  const { exportsPerAccount: most } = config?.limits ?? DEFAULT_LIMITS
  const exports = { kind: 'exports', most, may: 'export', limit: 'limits.exports_per_account' }

  /** Has the account share the allowance of another, unless it does; null: its own. */
  async function change(tx: Writes, user: UserRow, sharesWith: string | null, by: Acting): Promise<void> {
    if (user.sharesWith === sharesWith) return
    await tx.users.share(user, sharesWith)
    const details = { shares_with: sharesWith }
    tx.audit.record({ event: 'account.allowance_changed', at: now(), by, userId: user.id, details })
  }

  return {
    /** Gives the account an allowance, which those that it invited share from then on. @throws ServiceError `not_found` */
    separate: (email: string, by = byCommand()) =>
      storage.write(async (tx) => change(tx, await requireAccount(tx, email), null, by)),
    /**
     * Lets the account, and those that it invited, share the allowance that another one has or shares.
     * @throws ServiceError `not_found`; `conflict` when that account shares with this one
     */
    share: (email: string, withEmail: string, by = byCommand()) =>
      storage.write(async (tx) => {
        const user = await requireAccount(tx, email)
        const other = allowanceOf(payerOf(await requireAccount(tx, withEmail)))
        if (other === user.id) {
          const isSame = user.email === withEmail.trim().toLowerCase()
          const problem = isSame ? 'it is the same account' : 'that account shares with this one'
          throw new ServiceError('conflict', `${email} cannot share with ${withEmail}: ${problem}`)
        }
        await change(tx, user, other, by)
      }),
    /** The accounts that share one allowance with this one. */
    async sharing({ id, payer }: Pick<User, 'id' | 'payer'>): Promise<Sharing> {
      const allowance = allowanceOf(payer)
      if (allowance === id) return { host: null, guests: await storage.read.users.countOfGuests(id) }
      const host = await storage.read.users.byId(allowance)
      return { host: host?.name ?? allowance, guests: 0 }
    },
    /** Counts a download. @throws ServiceError `too_many` */
    spendExport: ({ payer }: Pick<User, 'payer'>) =>
      storage.write((tx) => spendOfPayer(tx, payer, exports, now(), 'nothing was exported')),
  }
}
