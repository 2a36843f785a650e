/** Accounts: the links into them, passwords, and new passwords. A person needs a link to get an account. */
import type { Instant } from '@claimcheck/core/rules'
import { type Acting, byCommand, byUser } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { readName } from '../../base/names.ts'
import type { Role } from '../../storage/people.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import { countingGuesses } from '../workspaces/guesses.ts'
import { type DailyLimits, DEFAULT_LIMITS, type LimitsConfig } from '../workspaces/limits-config.ts'
import { insertWorkspace, newWorkspace } from '../workspaces/workspaces.ts'
import { recordFailedSignIn } from './failed-sign-ins.ts'
import { invite } from './invitations.ts'
import { type MailedLink, OF_NOBODY, type OpenLinks, openLinks, unusableLink } from './links.ts'
import { insertMember, newMember } from './members.ts'
import { AddressTakenError, isHeld, type NewUser, prepareUser } from './new-accounts.ts'
import { createNewPasswords, type NewPasswords } from './new-passwords.ts'
import { isPassword } from './passwords.ts'
import { toUser, type User } from './sessions.ts'

/** Of one invitation, in a day. */
const MOST_TAKEN_ADDRESSES = 5

/** The purpose of a link. */
export type Link =
  | { readonly kind: 'setup' /** True when a workspace exists. */; readonly hasWorkspace: boolean }
  | {
      readonly kind: 'invitation'
      readonly workspaceId: string
      readonly workspaceName: string
      readonly role: Role
      /** Who has the link reads mails to this address. null: it was passed on otherwise. */
      readonly recipient: string | null
      /** An account that never confirmed it has the recipient's address. */
      readonly isHeld: boolean
    }
  | { readonly kind: 'reset'; readonly userId: string; readonly email: string }

/** @param by who does it; by default the command line */
export class AccountService {
  readonly #storage: Storage
  readonly #now: () => Instant
  readonly #links: OpenLinks
  readonly #limits: DailyLimits
  /** New passwords, by a link or by the signed-in person. */
  readonly passwords: NewPasswords

  constructor({ storage, now, config }: { storage: Storage; now: () => Instant; config?: LimitsConfig }) {
    this.#limits = config?.limits ?? DEFAULT_LIMITS
    this.#storage = storage
    this.#now = now
    this.#links = openLinks({ storage, now })
    this.passwords = createNewPasswords({ storage, now, links: this.#links })
  }

  /** A token for the first user. Using one setup token ends all others. Undefined when an account exists. */
  setupToken(by: Acting = byCommand()): Promise<string | undefined> {
    return this.#storage.write(async (tx) => {
      if (await tx.users.any()) return undefined
      return (await this.#links.make(tx, { kind: 'setup', ...OF_NOBODY }, by)).token
    })
  }

  /**
   * A token with which one person joins a workspace. A mailed one ends the open invitation of the address: there is one at a time.
   * @param createdBy the id of an owner; null for the command line, which has no limits
   * @throws ServiceError `conflict` when `createdBy` is not an owner any more, or has no confirmed address and the link is mailed;
   * `too_many`
   */
  inviteToken(
    workspaceId: string,
    role: Role,
    createdBy: string | null,
    by: Acting = byCommand(),
    mailed?: MailedLink,
  ): Promise<string> {
    const parts = { storage: this.#storage, now: this.#now, links: this.#links, limits: this.#limits }
    return invite(parts, { workspaceId, role, createdBy, mailed }, by)
  }

  /**
   * A token with which a user chooses a new password.
   * @param among `confirmed`: only of an account with a confirmed address, to which it is mailed
   * @throws ServiceError `not_found`
   */
  async resetToken(email: string, by: Acting = byCommand(), among: 'any' | 'confirmed' = 'any'): Promise<string> {
    const user = await this.#storage.read.users.byEmail(email.trim().toLowerCase())
    if (!user || user.closedAt !== null || (among === 'confirmed' && user.confirmedAt === null)) {
      throw new ServiceError('not_found', `there is no account with the address ${email}`)
    }
    const subject = { kind: 'reset', ...OF_NOBODY, userId: user.id } as const
    return (await this.#storage.write((tx) => this.#links.make(tx, subject, by))).token
  }

  /** Undefined when the link was used, has expired or does not exist. */
  async link(token: string): Promise<Link | undefined> {
    const row = await this.#links.find(token)
    if (row?.kind === 'setup') return { kind: 'setup', hasWorkspace: await this.#storage.read.workspaces.any() }
    if (row?.kind === 'reset') {
      const user = await this.#storage.read.users.byId(row.userId!)
      return user && { kind: 'reset', userId: user.id, email: user.email }
    }
    if (row?.kind !== 'invitation') return undefined
    const workspace = await this.#storage.read.workspaces.byIdOrName(row.workspaceId!)
    if (!workspace) return undefined
    const { role, recipient } = row
    const { id: workspaceId, name: workspaceName } = workspace
    const isTaken = recipient !== null && (await isHeld(this.#storage.read, recipient))
    return { kind: 'invitation', workspaceId, workspaceName, role: role!, recipient, isHeld: isTaken }
  }

  /**
   * Creates the first user as owner of every workspace, and of those that the command line creates later; creates a workspace when
   * none exists.
   * @throws ServiceError `bad_request`, `conflict`, `not_found`
   */
  async setUp(
    token: string,
    newUser: NewUser,
    workspaceName: string,
    by: Acting = byCommand(),
  ): Promise<{ readonly user: User }> {
    const link = await this.#links.require(token, 'setup')
    const hasWorkspace = await this.#storage.read.workspaces.any()
    const first = hasWorkspace ? undefined : newWorkspace(workspaceName, null, this.#now())
    const entrance = { workspaces: [workspaceName], link: OF_NOBODY, by, now: this.#now }
    const insertUser = await prepareUser(newUser, entrance)
    return this.#storage.write(async (tx) => {
      await this.#links.use(tx, link)
      // Ends the other setup links in the same transaction, so that only one of two people with two links becomes the first user.
      await tx.links.endAll({ kind: 'setup' }, this.#now())
      if (await tx.users.any()) throw unusableLink()
      const user = await insertUser(tx)
      await tx.links.setUserOfSetup(link.id, user.id)
      const byOwner = byUser(user.id, by.address)
      if (first && !(await tx.workspaces.any())) await insertWorkspace(tx, { ...first, paidBy: user.id }, byOwner)
      for (const { id } of await tx.workspaces.list()) {
        await insertMember(tx, newMember(id, user.id, 'owner', this.#now()), byOwner)
      }
      return { user }
    })
  }

  /**
   * @throws ServiceError `bad_request`, `conflict` when the address has an account, `not_found` for an unusable link, `too_many` after
   * several such addresses; `HeldAddress`
   */
  async join(
    token: string,
    newUser: NewUser,
    by: Acting = byCommand(),
  ): Promise<{ readonly user: User; readonly workspaceId: string }> {
    const link = await this.#links.require(token, 'invitation')
    const workspaceId = link.workspaceId!
    const workspace = await this.#storage.read.workspaces.byIdOrName(workspaceId)
    const entrance = { workspaces: workspace ? [workspace.name] : [], link, by, now: this.#now }
    const insertUser = await prepareUser(newUser, entrance)
    const enter = async (tx: Writes) => {
      // In the order in which deleting a workspace and closing an account lock them: otherwise each could wait for the other.
      const user = await insertUser(tx)
      if (!(await tx.workspaces.lock(workspaceId))) throw unusableLink()
      await this.#links.use(tx, link)
      const member = newMember(workspaceId, user.id, link.role!, this.#now())
      if (!(await insertMember(tx, member, byUser(user.id, by.address)))) {
        throw new ServiceError('conflict', 'you are a member of this workspace already')
      }
      return { user, workspaceId }
    }
    // A link may be passed on to anybody.
    const guesses = {
      subject: `taken addresses by the link ${link.id}`,
      most: MOST_TAKEN_ADDRESSES,
      isRight: (error: unknown) => error instanceof AddressTakenError,
      refusal: 'this link was tried with several addresses that have accounts: sign in to yours, or ask for a new link',
    }
    return countingGuesses(this.#storage, guesses, this.#now(), () => this.#storage.write(enter))
  }

  /** Undefined unless address and password are right, which it records. */
  async byPassword(email: string, password: string, by: Acting = byCommand()): Promise<User | undefined> {
    const user = await this.#storage.read.users.byEmail(email.trim().toLowerCase())
    if (await isPassword(password, user?.passwordHash)) return toUser(user!)
    // An address without an account is not kept: people type their password there.
    const details = { method: 'password', ...(user ? { email: user.email } : {}) }
    const entry = { event: 'sign_in.failed', at: this.#now(), by, userId: user?.id ?? null, details } as const
    await this.#storage.write((tx) => recordFailedSignIn(tx, entry))
    return undefined
  }

  /** @throws ServiceError `bad_request` */
  async rename(userId: string, name: string, by: Acting = byCommand()): Promise<void> {
    const checked = readName(name)
    await this.#storage.write(async (tx) => {
      const from = (await tx.users.byId(userId))?.name ?? null
      await tx.users.setName(userId, checked)
      tx.audit.record({ event: 'account.renamed', at: this.#now(), by, userId, details: { from, to: checked } })
    })
  }

  /** All users, oldest first. */
  async list(): Promise<readonly (User & { readonly createdAt: Instant })[]> {
    return (await this.#storage.read.users.list()).map((user) => ({ ...toUser(user), createdAt: user.createdAt }))
  }
}
