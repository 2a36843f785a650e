/** Accounts: the links into them, passwords, and new passwords. A person needs a link to get an account. */
import type { Instant } from '@claimcheck/core/rules'
import { byCommand, byUser } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { payerOf } from '../../base/payers.ts'
import { readName } from '../../names/names.ts'
import type { Role } from '../../storage/people.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import { countingGuesses } from '../workspaces/guesses.ts'
import { DEFAULT_LIMITS, type LimitsConfig } from '../workspaces/limits-config.ts'
import { insertWorkspace, newWorkspace, requireWorkspace } from '../workspaces/workspaces.ts'
import { mailboxSubject, type SpentLimit, spendDaily, spendOfPayer } from './daily-limits.ts'
import { recordFailedSignIn } from './failed-sign-ins.ts'
import { type MailedLink, OF_NOBODY, openLinks, unusableLink } from './links.ts'
import { insertMember, newMember } from './members.ts'
import { AddressTakenError, isHeld, type NewUser, prepareUser } from './new-accounts.ts'
import { createNewPasswords } from './new-passwords.ts'
import { isPassword } from './passwords.ts'
import { toUser, type User } from './sessions.ts'

/** The most addresses with accounts that one invitation may be tried with in a day. */
const MOST_TAKEN_ADDRESSES = 5

/** The purpose of a link. */
export type Link =
  | { readonly kind: 'setup' /** True when a workspace exists. */; readonly hasWorkspace: boolean }
  | {
      readonly kind: 'invitation'
      readonly workspaceId: string
      readonly workspaceName: string
      readonly role: Role
      /** The address that the link was mailed to, whose mails the holder of the link reads; null for a link that was passed on otherwise. */
      readonly recipient: string | null
      /** True if an account that never confirmed it has the recipient's address. */
      readonly isHeld: boolean
    }
  | { readonly kind: 'reset'; readonly userId: string; readonly email: string }

export type AccountService = ReturnType<typeof createAccountService>

/** Makes the service of accounts. The parameter `by` of each method is the actor; by default the command line. */
export function createAccountService(parts: { storage: Storage; now: () => Instant; config?: LimitsConfig }) {
  const { storage, now, config } = parts
  const { invitationsPerAccount, invitationsPerWorkspace, invitationsPerRecipient } = config?.limits ?? DEFAULT_LIMITS
  const links = openLinks({ storage, now })
  const { read } = storage

  /** Counts an invitation against the limits of a day. @throws ServiceError `conflict`, `too_many` */
  async function spend(tx: Writes, workspaceId: string, createdBy: string, recipient: string | null): Promise<void> {
    const inviter = await tx.users.byId(createdBy)
    // Mails name the inviter by address, so it has to be confirmed.
    if (recipient !== null && inviter?.confirmedAt == null) {
      throw new ServiceError('conflict', 'confirm your e-mail address first: your Account page sends you a link')
    }
    const at = now()
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

  return {
    /** The service of new passwords, by a link or by the signed-in person. */
    passwords: createNewPasswords({ storage, now, links }),

    /** Makes a token for the first user; undefined when an account exists. Using one setup token ends all others. */
    setupToken: (by = byCommand()): Promise<string | undefined> =>
      storage.write(async (tx) => {
        if (await tx.users.any()) return undefined
        return (await links.make(tx, { kind: 'setup', ...OF_NOBODY }, by)).token
      }),

    /**
     * Makes a token with which one person joins a workspace. A mailed one ends the open invitation of the address: there is one at a time.
     * @param createdBy the id of an owner; null for the command line, which has no limits
     * @throws ServiceError `conflict` when `createdBy` is not an owner any more, or has no confirmed address and the link is mailed; `too_many`
     */
    inviteToken(
      workspaceId: string,
      role: Role,
      createdBy: string | null,
      by = byCommand(),
      mailed?: MailedLink,
    ): Promise<string> {
      const recipient = mailed?.recipient ?? null
      return storage.write(async (tx) => {
        await requireWorkspace(tx, workspaceId)
        if (createdBy !== null) {
          const owners = await tx.members.lockOwners(workspaceId)
          if (!owners.some(({ userId }) => userId === createdBy)) {
            throw new ServiceError('conflict', 'only owners can invite people: ask an owner of this workspace')
          }
          await spend(tx, workspaceId, createdBy, recipient)
        }
        if (recipient !== null) await tx.links.endAll({ kind: 'invitation', workspaceId, recipient }, now())
        const subject = { kind: 'invitation', workspaceId, role, userId: null, createdBy, recipient } as const
        const link = await links.make(tx, subject, by)
        await mailed?.mail(tx, link)
        return link.token
      })
    },

    /**
     * Makes a token with which a user chooses a new password.
     * @param among `confirmed` for accounts with a confirmed address alone, to which the token is mailed
     * @throws ServiceError `not_found`
     */
    async resetToken(email: string, by = byCommand(), among: 'any' | 'confirmed' = 'any'): Promise<string> {
      const user = await read.users.byEmail(email.trim().toLowerCase())
      if (!user || user.closedAt !== null || (among === 'confirmed' && user.confirmedAt === null)) {
        throw new ServiceError('not_found', `there is no account with the address ${email}`)
      }
      const subject = { kind: 'reset', ...OF_NOBODY, userId: user.id } as const
      return (await storage.write((tx) => links.make(tx, subject, by))).token
    },

    /** Finds a link; undefined when it was used, has expired or does not exist. */
    async link(token: string): Promise<Link | undefined> {
      const row = await links.find(token)
      if (row?.kind === 'setup') return { kind: 'setup', hasWorkspace: await read.workspaces.any() }
      if (row?.kind === 'reset') {
        const user = await read.users.byId(row.userId!)
        return user && { kind: 'reset', userId: user.id, email: user.email }
      }
      if (row?.kind !== 'invitation') return undefined
      const workspace = await read.workspaces.byIdOrName(row.workspaceId!)
      if (!workspace) return undefined
      const { role, recipient } = row
      const { id: workspaceId, name: workspaceName } = workspace
      const isTaken = recipient !== null && (await isHeld(read, recipient))
      return { kind: 'invitation', workspaceId, workspaceName, role: role!, recipient, isHeld: isTaken }
    },

    /**
     * Creates the first user as owner of every workspace, and of those that the command line creates later; creates a workspace when
     * none exists.
     * @throws ServiceError `bad_request`, `conflict`, `not_found`
     */
    async setUp(token: string, newUser: NewUser, workspaceName: string, by = byCommand()): Promise<{ user: User }> {
      const link = await links.require(token, 'setup')
      const hasWorkspace = await read.workspaces.any()
      const first = hasWorkspace ? undefined : newWorkspace(workspaceName, null, now())
      const insertUser = await prepareUser(newUser, { workspaces: [workspaceName], link: OF_NOBODY, by, now })
      return storage.write(async (tx) => {
        await links.use(tx, link)
        // Other setup links end in the same transaction, so that only one of two people with two links becomes the first user.
        await tx.links.endAll({ kind: 'setup' }, now())
        if (await tx.users.any()) throw unusableLink()
        const user = await insertUser(tx)
        await tx.links.setUserOfSetup(link.id, user.id)
        const byOwner = byUser(user.id, by.address)
        if (first && !(await tx.workspaces.any())) await insertWorkspace(tx, { ...first, paidBy: user.id }, byOwner)
        for (const { id } of await tx.workspaces.list()) {
          await insertMember(tx, newMember(id, user.id, 'owner', now()), byOwner)
        }
        return { user }
      })
    },

    /**
     * Lets a person into a workspace by an invitation.
     * @throws ServiceError `bad_request`, `conflict` when the address has an account, `not_found` for an unusable link, `too_many` after
     * several such addresses; `HeldAddress`
     */
    async join(token: string, newUser: NewUser, by = byCommand()): Promise<{ user: User; workspaceId: string }> {
      const link = await links.require(token, 'invitation')
      const workspaceId = link.workspaceId!
      const workspace = await read.workspaces.byIdOrName(workspaceId)
      const insertUser = await prepareUser(newUser, { workspaces: workspace ? [workspace.name] : [], link, by, now })
      const enter = async (tx: Writes) => {
        // Rows are locked in the order of deleting a workspace and closing an account: otherwise each could wait for the other.
        const user = await insertUser(tx)
        if (!(await tx.workspaces.lock(workspaceId))) throw unusableLink()
        await links.use(tx, link)
        const member = newMember(workspaceId, user.id, link.role!, now())
        if (!(await insertMember(tx, member, byUser(user.id, by.address)))) {
          throw new ServiceError('conflict', 'you are a member of this workspace already')
        }
        return { user, workspaceId }
      }
      // Links may be passed on to anybody, so guesses by one are counted.
      const guesses = {
        subject: `taken addresses by the link ${link.id}`,
        most: MOST_TAKEN_ADDRESSES,
        isRight: (error: unknown) => error instanceof AddressTakenError,
        refusal:
          'this link was tried with several addresses that have accounts: sign in to yours, or ask for a new link',
      }
      return countingGuesses(storage, guesses, now(), () => storage.write(enter))
    },

    /** Finds a user by address and password; undefined unless both are right. Records a refusal. */
    async byPassword(email: string, password: string, by = byCommand()): Promise<User | undefined> {
      const user = await read.users.byEmail(email.trim().toLowerCase())
      if (await isPassword(password, user?.passwordHash)) return toUser(user!)
      // An address without an account is not recorded: people type their password there.
      const details = { method: 'password', ...(user ? { email: user.email } : {}) }
      const entry = { event: 'sign_in.failed', at: now(), by, userId: user?.id ?? null, details } as const
      await storage.write((tx) => recordFailedSignIn(tx, entry))
      return undefined
    },

    /**
     * Renames a user.
     * @throws ServiceError `bad_request`
     */
    async rename(userId: string, name: string, by = byCommand()): Promise<void> {
      const to = readName(name)
      await storage.write(async (tx) => {
        const from = (await tx.users.byId(userId))?.name ?? null
        await tx.users.setName(userId, to)
        tx.audit.record({ event: 'account.renamed', at: now(), by, userId, details: { from, to } })
      })
    },

    /** Lists all users, oldest first. */
    async list() {
      return (await read.users.list()).map((user) => ({ ...toUser(user), createdAt: user.createdAt }))
    },
  }
}
