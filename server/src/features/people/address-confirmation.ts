/** Confirming the address of an account: by a link that is mailed to it, and used in a session of the account. */
import type { Instant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { allowanceOf } from '../../base/payers.ts'
import { isReservedAddress } from '../../base/reserved-addresses.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import { DEFAULT_LIMITS, type LimitsConfig } from '../workspaces/limits-config.ts'
import { requireCurrent } from './current.ts'
import { mailboxSubject, spendDaily } from './daily-limits.ts'
import { type MailedLink, OF_NOBODY, openLinks, unusableLink } from './links.ts'
import type { User } from './sessions.ts'

/** Makes the service. The parameter `by` of each method is the actor; by default the command line. */
export function createAddressConfirmation(parts: { storage: Storage; now: () => Instant; config?: LimitsConfig }) {
  const { storage, now, config } = parts
  const { invitationsPerRecipient: most } = config?.limits ?? DEFAULT_LIMITS
  const links = openLinks({ storage, now })

  return {
    /**
     * Mails a link that confirms the address.
     * @throws ServiceError `too_many`; `conflict` for an account without an address
     */
    async ask(user: Pick<User, 'id' | 'email' | 'payer'>, mail: MailedLink['mail'], by = byCommand()): Promise<void> {
      const { id, email, payer } = user
      if (isReservedAddress(email)) {
        throw new ServiceError('conflict', 'your account has no address any more: ask an owner for another invitation')
      }
      // The limit is by allowance: neither invitations, nor the accounts that other people make in the name of this mailbox, use up its mails. And
      // guests, of whom there may be many, get it no more mails than one account does.
      const subject = mailboxSubject(`confirmations by ${allowanceOf(payer)}`, email)
      await storage.write(async (tx) => {
        await spendDaily(tx, [{ subject, most, what: 'an address may get' }], now(), 'nothing was sent')
        await mail(tx, await links.make(tx, { kind: 'address', ...OF_NOBODY, userId: id, recipient: email }, by))
      })
    },
    /**
     * Confirms the address of a user.
     * @throws ServiceError `not_found` for an unusable link, and for one of another account or address
     */
    async confirm(user: User, token: string, by = byCommand()): Promise<void> {
      const link = await links.require(token, 'address')
      await storage.write(async (tx) => {
        const { email } = await requireCurrent(tx, user)
        if (link.userId !== user.id || link.recipient !== email) throw unusableLink()
        await links.use(tx, link)
        await recordConfirmed(tx, user, now(), by)
      })
    },
  }
}

export async function recordConfirmed(
  tx: Writes,
  { id, email }: Pick<User, 'id' | 'email'>,
  at: Instant,
  by: Acting,
): Promise<void> {
  await tx.users.confirm(id, email, at)
  tx.audit.record({ event: 'account.address_confirmed', at, by, userId: id, details: { email } })
}
