/** Accounts: creating them by link, passwords, and new passwords. A person needs a link to get an account. */
import type { Instant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { readName } from '../../base/names.ts'
import { type NewUserRow, payerOf, type Role } from '../../storage/people.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import { type DailyLimits, DEFAULT_LIMITS, type LimitsConfig } from '../workspaces/limits-config.ts'
import { insertWorkspace, newWorkspace, requireWorkspace } from '../workspaces/workspaces.ts'
import { sharedByInvited } from './allowances.ts'
import { requireCurrent } from './current.ts'
import { mailboxSubject, spendDaily } from './daily-limits.ts'
import { type Identity, insertIdentity } from './identities.ts'
import { type LinkSubject, type MadeLink, type OpenLinks, openLinks, unusableLink } from './links.ts'
import { insertMember, newMember } from './members.ts'
import { createNewPasswords, type NewPasswords } from './new-passwords.ts'
import { requireStrongPassword } from './password-strength.ts'
import { hashPassword, isPassword } from './passwords.ts'
import { toUser, type User } from './sessions.ts'

/** The user of a link: one with an account, or a new one, who signs in with a password or through the OpenID provider. */
export type NewUser =
  | { readonly user: User }
  | {
      readonly name: string
      readonly email: string
      /** The OpenID provider says that the address is theirs. */
      readonly isVerified?: boolean
      readonly proof: { readonly password: string } | { readonly identity: Identity }
    }

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
    }
  | { readonly kind: 'reset'; readonly userId: string; readonly email: string }

// Accepts what mail servers may accept, but no invisible characters and none that control a terminal.
const EMAIL = /^[^\s@<>"\p{C}]{1,64}@[^\s@<>"\p{C}]{1,190}$/u

/** Puts a new link into a mail, in the transaction that makes it. */
export interface MailedLink {
  readonly recipient: string
  readonly mail: (tx: Writes, link: MadeLink) => Promise<void>
}

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
    const recipient = mailed?.recipient ?? null
    return this.#storage.write(async (tx) => {
      await requireWorkspace(tx, workspaceId)
      const owners = createdBy === null ? [] : await tx.members.lockOwners(workspaceId)
      if (createdBy !== null && !owners.some(({ userId }) => userId === createdBy)) {
        throw new ServiceError('conflict', 'only owners can invite people: ask an owner of this workspace')
      }
      if (createdBy !== null) await this.#spendInvitation(tx, workspaceId, createdBy, recipient)
      if (recipient !== null) await tx.links.endInvitation(workspaceId, recipient, this.#now())
      const subject = { kind: 'invitation', workspaceId, role, userId: null, createdBy, recipient } as const
      const link = await this.#links.make(tx, subject, by)
      await mailed?.mail(tx, link)
      return link.token
    })
  }

  async #spendInvitation(tx: Writes, workspaceId: string, createdBy: string, recipient: string | null): Promise<void> {
    const inviter = await tx.users.byId(createdBy)
    // A mail names who invites by address.
    if (recipient !== null && inviter?.confirmedAt == null) {
      throw new ServiceError('conflict', 'confirm your e-mail address first: your Account page sends you a link')
    }
    const { invitationsPerAccount, invitationsPerWorkspace, invitationsPerRecipient } = this.#limits
    const payer = inviter ? payerOf(inviter) : createdBy
    const limits = [
      {
        subject: `invitations by ${payer}`,
        most: invitationsPerAccount,
        what: 'you, and those you share with, invite',
      },
      { subject: `invitations to ${workspaceId}`, most: invitationsPerWorkspace, what: 'a workspace invites' },
    ]
    if (recipient !== null) {
      const subject = mailboxSubject('unasked', recipient)
      limits.push({ subject, most: invitationsPerRecipient, what: 'an address gets' })
    }
    await spendDaily(tx, limits, this.#now())
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

  /** Mails a link that confirms the address of the account. Nothing is sent where the address got enough mails. */
  async askConfirmation(
    { id, email }: Pick<User, 'id' | 'email'>,
    mail: MailedLink['mail'],
    by: Acting = byCommand(),
  ): Promise<void> {
    const most = this.#limits.invitationsPerRecipient
    await this.#storage.write(async (tx) => {
      await spendDaily(tx, [{ subject: mailboxSubject('unasked', email), most, what: 'an address gets' }], this.#now())
      const subject = { kind: 'address', ...OF_NOBODY, userId: id, recipient: email } as const
      await mail(tx, await this.#links.make(tx, subject, by))
    })
  }

  /** @throws ServiceError `not_found` for an unusable link, and for one of another account or address */
  async confirmAddress(user: User, token: string, by: Acting = byCommand()): Promise<void> {
    const link = await this.#links.require(token, 'address')
    await this.#storage.write(async (tx) => {
      const { email } = await requireCurrent(tx, user)
      if (link.userId !== user.id || link.recipient !== email) throw unusableLink()
      await this.#links.use(tx, link)
      await this.#confirm(tx, user, by)
    })
  }

  async #confirm(tx: Writes, { id, email }: Pick<User, 'id' | 'email'>, by: Acting): Promise<void> {
    await tx.users.confirm(id, email, this.#now())
    tx.audit.record({ event: 'account.address_confirmed', at: this.#now(), by, userId: id, details: { email } })
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
    return { kind: 'invitation', workspaceId: workspace.id, workspaceName: workspace.name, role: role!, recipient }
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
    const insertUser = await this.#prepare(newUser, [workspaceName], OF_NOBODY, by)
    return this.#storage.write(async (tx) => {
      await this.#links.use(tx, link)
      // Ends the other setup links in the same transaction, so that only one of two people with two links becomes the first user.
      await tx.links.endAll('setup', this.#now())
      if (await tx.users.any()) throw unusableLink()
      const user = await insertUser(tx)
      await tx.links.setUserOfSetup(link.id, user.id)
      const byOwner = joiner(user.id, by)
      if (first && !(await tx.workspaces.any())) await insertWorkspace(tx, { ...first, createdBy: user.id }, byOwner)
      for (const { id } of await tx.workspaces.list()) {
        await insertMember(tx, newMember(id, user.id, 'owner', this.#now()), byOwner)
      }
      return { user }
    })
  }

  /** @throws ServiceError `bad_request`, `conflict` when the address has an account, `not_found` for an unusable link */
  async join(
    token: string,
    newUser: NewUser,
    by: Acting = byCommand(),
  ): Promise<{ readonly user: User; readonly workspaceId: string }> {
    const link = await this.#links.require(token, 'invitation')
    const workspaceId = link.workspaceId!
    const workspace = await this.#storage.read.workspaces.byIdOrName(workspaceId)
    const insertUser = await this.#prepare(newUser, workspace ? [workspace.name] : [], link, by)
    return this.#storage.write(async (tx) => {
      // In the order in which deleting a workspace and closing an account lock them: otherwise each could wait for the other.
      const user = await insertUser(tx)
      if (!(await tx.workspaces.lock(workspaceId))) throw unusableLink()
      await this.#links.use(tx, link)
      if (!(await insertMember(tx, newMember(workspaceId, user.id, link.role!, this.#now()), joiner(user.id, by)))) {
        throw new ServiceError('conflict', 'you are a member of this workspace already')
      }
      return { user, workspaceId }
    })
  }

  /** Undefined unless address and password are right, which it records. */
  async byPassword(email: string, password: string, by: Acting = byCommand()): Promise<User | undefined> {
    const user = await this.#storage.read.users.byEmail(email.trim().toLowerCase())
    if (await isPassword(password, user?.passwordHash)) return toUser(user!)
    // An address without an account is not kept: people type their password there.
    const details = { method: 'password', ...(user ? { email: user.email } : {}) }
    const entry = { event: 'sign_in.failed', at: this.#now(), by, userId: user?.id ?? null, details } as const
    await this.#storage.write(async (tx) => tx.audit.record(entry))
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

  /** Hashes the password, which is slow, before the transaction starts. @param link the person who uses it reads mails to its recipient */
  async #prepare(
    newUser: NewUser,
    workspaces: readonly string[],
    { createdBy, recipient }: Pick<LinkSubject, 'createdBy' | 'recipient'>,
    { address }: Acting,
  ): Promise<(tx: Writes) => Promise<User>> {
    if ('user' in newUser) {
      return async (tx) => {
        const row = await requireCurrent(tx, newUser.user)
        if (row.email !== recipient || row.confirmedAt !== null) return toUser(row)
        await this.#confirm(tx, row, { actor: { kind: 'user', id: row.id }, address })
        return toUser({ ...row, confirmedAt: this.#now() })
      }
    }
    const { proof } = newUser
    const [email, name] = [readEmail(newUser.email), readName(newUser.name)]
    if ('password' in proof) await requireStrongPassword(proof.password, { email, name, workspaces })
    const user: NewUserRow = {
      id: newId('usr_', this.#now()),
      email,
      name,
      passwordHash: 'password' in proof ? await hashPassword(proof.password) : null,
      createdAt: this.#now(),
      confirmedAt: email === recipient || newUser.isVerified ? this.#now() : null,
    }
    return async (tx) => {
      const sharesWith = await sharedByInvited(tx, createdBy)
      const by: Acting = { actor: { kind: 'user', id: user.id }, address }
      // Who never showed that the address is theirs does not keep it from the person who reads its mails.
      const released = email === recipient ? await tx.users.release(email) : undefined
      if (released !== undefined) {
        tx.audit.record({ event: 'account.address_taken', at: this.#now(), by, userId: released, details: { email } })
      }
      if (!(await tx.users.insert({ ...user, sharesWith }))) {
        throw new ServiceError(
          'conflict',
          'there is an account with this address: sign in to it, then open the link again',
        )
      }
      const details = { email: user.email, method: 'password' in proof ? 'password' : 'outside' }
      tx.audit.record({ event: 'account.created', at: user.createdAt, by, userId: user.id, details })
      if ('identity' in proof) await insertIdentity(tx, user.id, proof.identity, this.#now(), by)
      return toUser({ confirmedAt: null, ...user, sharesWith, generation: 0, closedAt: null })
    }
  }
}

/** Of a link that no person or workspace made. */
const OF_NOBODY = { workspaceId: null, role: null, userId: null, createdBy: null, recipient: null } as const

/** The user whom the link let in. */
function joiner(userId: string, { address }: Acting): Acting {
  return { actor: { kind: 'user', id: userId }, address }
}

function readEmail(text: string): string {
  const email = text.trim().toLowerCase()
  if (!EMAIL.test(email)) throw new ServiceError('bad_request', 'the e-mail address is not valid')
  return email
}
