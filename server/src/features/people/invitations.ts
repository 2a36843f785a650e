/** Invitations: links with which one person joins a workspace, passed on or mailed, and how many there may be in a day. */
import type { Instant } from '@claimcheck/core/rules'
import type { Acting } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { payerOf } from '../../base/payers.ts'
import type { Role } from '../../storage/people.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import type { DailyLimits } from '../workspaces/limits-config.ts'
import { requireWorkspace } from '../workspaces/workspaces.ts'
import { mailboxSubject, type SpentLimit, spendDaily, spendOfPayer } from './daily-limits.ts'
import type { MailedLink, OpenLinks } from './links.ts'

interface Parts {
  readonly storage: Storage
  readonly now: () => Instant
  readonly links: Pick<OpenLinks, 'make'>
  readonly limits: DailyLimits
}

export interface NewInvitation {
  readonly workspaceId: string
  readonly role: Role
  /** The id of an owner; null: the command line, which has no limits. */
  readonly createdBy: string | null
  readonly mailed: MailedLink | undefined
}

/** Returns the token. @throws ServiceError as `AccountService.inviteToken` does */
export function invite({ storage, now, links, limits }: Parts, invitation: NewInvitation, by: Acting): Promise<string> {
  const { workspaceId, role, createdBy, mailed } = invitation
  const recipient = mailed?.recipient ?? null
  return storage.write(async (tx) => {
    await requireWorkspace(tx, workspaceId)
    if (createdBy !== null) {
      const owners = await tx.members.lockOwners(workspaceId)
      if (!owners.some(({ userId }) => userId === createdBy)) {
        throw new ServiceError('conflict', 'only owners can invite people: ask an owner of this workspace')
      }
      await spend(tx, limits, { workspaceId, createdBy, recipient }, now())
    }
    if (recipient !== null) await tx.links.endAll({ kind: 'invitation', workspaceId, recipient }, now())
    const subject = { kind: 'invitation', workspaceId, role, userId: null, createdBy, recipient } as const
    const link = await links.make(tx, subject, by)
    await mailed?.mail(tx, link)
    return link.token
  })
}

interface Counted {
  readonly workspaceId: string
  readonly createdBy: string
  readonly recipient: string | null
}

async function spend(
  tx: Writes,
  { invitationsPerAccount, invitationsPerWorkspace, invitationsPerRecipient }: DailyLimits,
  { workspaceId, createdBy, recipient }: Counted,
  at: Instant,
): Promise<void> {
  const inviter = await tx.users.byId(createdBy)
  // A mail names who invites by address.
  if (recipient !== null && inviter?.confirmedAt == null) {
    throw new ServiceError('conflict', 'confirm your e-mail address first: your Account page sends you a link')
  }
  const payer = inviter ? payerOf(inviter) : createdBy
  const limit = 'limits.invitations_per_account'
  const ofPayer = { kind: 'invitations', most: invitationsPerAccount, may: 'invite', limit }
  await spendOfPayer(tx, payer, ofPayer, at, 'nothing was sent')
  const limits: SpentLimit[] = [
    { subject: `invitations to ${workspaceId}`, most: invitationsPerWorkspace, what: 'a workspace may invite' },
  ]
  if (recipient !== null) {
    const subject = mailboxSubject('invitations', recipient)
    limits.push({ subject, most: invitationsPerRecipient, what: 'an address may get' })
  }
  await spendDaily(tx, limits, at, 'nothing was sent')
}
