/** Accounts: creating them by link, passwords, and new passwords. A person needs a link to get an account. */
import type { Instant } from '@claimcheck/core/rules'
import { type Acting, byCommand } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { readName } from '../../base/names.ts'
import type { NewUserRow, Role } from '../../storage/people.ts'
import type { Storage, Writes } from '../../storage/storage.ts'
import { newWorkspace, recordNewWorkspace, requireWorkspace } from '../workspaces/workspaces.ts'
import { requireCurrent } from './current.ts'
import { type Identity, insertIdentity } from './identities.ts'
import { openLinks, unusableLink } from './links.ts'
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
      readonly proof: { readonly password: string } | { readonly identity: Identity }
    }

/** The purpose of a link. */
export type Link =
  | { readonly kind: 'setup' /** True when a workspace exists. */; readonly hasWorkspace: boolean }
  | { readonly kind: 'invitation'; readonly workspaceId: string; readonly workspaceName: string; readonly role: Role }
  | { readonly kind: 'reset'; readonly userId: string; readonly email: string }

/** @param by who does it; by default the command line */
export interface AccountService extends NewPasswords {
  /** A token for the first user. Using one setup token ends all others. Undefined when an account exists. */
  setupToken(by?: Acting): Promise<string | undefined>
  /**
   * A token with which one person joins a workspace.
   * @param createdBy the id of an owner; null for the command line
   * @throws ServiceError `conflict` when `createdBy` is not an owner any more
   */
  inviteToken(workspaceId: string, role: Role, createdBy: string | null, by?: Acting): Promise<string>
  /** A token with which a user chooses a new password. @throws ServiceError `not_found` */
  resetToken(email: string, by?: Acting): Promise<string>
  /** Undefined when the link was used, has expired or does not exist. */
  link(token: string): Promise<Link | undefined>
  /**
   * Creates the first user as owner of every workspace, and of those that the command line creates later; creates a workspace when
   * none exists.
   * @throws ServiceError `bad_request`, `conflict`, `not_found`
   */
  setUp(token: string, newUser: NewUser, workspaceName: string, by?: Acting): Promise<{ readonly user: User }>
  /** @throws ServiceError `bad_request`, `conflict` when the address has an account, `not_found` for an unusable link */
  join(token: string, newUser: NewUser, by?: Acting): Promise<{ readonly user: User; readonly workspaceId: string }>
  /** Undefined unless address and password are right, which it records. */
  byPassword(email: string, password: string, by?: Acting): Promise<User | undefined>
  /** @throws ServiceError `bad_request` */
  rename(userId: string, name: string, by?: Acting): Promise<void>
  /** All users, oldest first. */
  list(): Promise<readonly (User & { readonly createdAt: Instant })[]>
}

// Accepts what mail servers may accept, but no invisible characters and none that control a terminal.
const EMAIL = /^[^\s@<>"\p{C}]{1,64}@[^\s@<>"\p{C}]{1,190}$/u

export function createAccountService({ storage, now }: { storage: Storage; now: () => Instant }): AccountService {
  const links = openLinks({ storage, now })

  /** Hashes the password, which is slow, before the transaction starts. */
  async function prepare(
    newUser: NewUser,
    workspaces: readonly string[],
    { address }: Acting,
  ): Promise<(tx: Writes) => Promise<User>> {
    if ('user' in newUser) return async (tx) => toUser(await requireCurrent(tx, newUser.user))
    const { proof } = newUser
    const [email, name] = [readEmail(newUser.email), readName(newUser.name)]
    if ('password' in proof) await requireStrongPassword(proof.password, { email, name, workspaces })
    const user: NewUserRow = {
      id: newId('usr_', now()),
      email,
      name,
      passwordHash: 'password' in proof ? await hashPassword(proof.password) : null,
      createdAt: now(),
    }
    return async (tx) => {
      if (!(await tx.users.insert(user))) {
        throw new ServiceError(
          'conflict',
          'there is an account with this address: sign in to it, then open the link again',
        )
      }
      const by: Acting = { actor: { kind: 'user', id: user.id }, address }
      const details = { email: user.email, method: 'password' in proof ? 'password' : 'outside' }
      tx.audit.record({ event: 'account.created', at: user.createdAt, by, userId: user.id, details })
      if ('identity' in proof) await insertIdentity(tx, user.id, proof.identity, now(), by)
      return toUser({ ...user, generation: 0, closedAt: null })
    }
  }

  return {
    setupToken: (by = byCommand()) =>
      storage.write(async (tx) => {
        if (await tx.users.any()) return undefined
        const subject = { kind: 'setup', workspaceId: null, role: null, userId: null, createdBy: null } as const
        return links.make(tx, subject, by)
      }),
    inviteToken: (workspaceId, role, createdBy, by = byCommand()) =>
      storage.write(async (tx) => {
        await requireWorkspace(tx, workspaceId)
        const owners = createdBy === null ? [] : await tx.members.lockOwners(workspaceId)
        if (createdBy !== null && !owners.some(({ userId }) => userId === createdBy)) {
          throw new ServiceError('conflict', 'only owners can invite people: ask an owner of this workspace')
        }
        return links.make(tx, { kind: 'invitation', workspaceId, role, userId: null, createdBy }, by)
      }),
    async resetToken(email, by = byCommand()) {
      const user = await storage.read.users.byEmail(email.trim().toLowerCase())
      if (!user || user.closedAt !== null) {
        throw new ServiceError('not_found', `there is no account with the address ${email}`)
      }
      const subject = { kind: 'reset', workspaceId: null, role: null, userId: user.id, createdBy: null } as const
      return storage.write((tx) => links.make(tx, subject, by))
    },
    async link(token) {
      const row = await links.find(token)
      if (row?.kind === 'setup') return { kind: 'setup', hasWorkspace: await storage.read.workspaces.any() }
      if (row?.kind === 'reset') {
        const user = await storage.read.users.byId(row.userId!)
        return user && { kind: 'reset', userId: user.id, email: user.email }
      }
      const workspace = row && (await storage.read.workspaces.byIdOrName(row.workspaceId!))
      if (!row || !workspace) return undefined
      return { kind: 'invitation', workspaceId: workspace.id, workspaceName: workspace.name, role: row.role! }
    },
    async setUp(token, newUser, workspaceName, by = byCommand()) {
      const link = await links.require(token, 'setup')
      const hasWorkspace = await storage.read.workspaces.any()
      const first = hasWorkspace ? undefined : newWorkspace(workspaceName, now())
      const insertUser = await prepare(newUser, [workspaceName], by)
      return storage.write(async (tx) => {
        await links.use(tx, link)
        // Ends the other setup links in the same transaction, so that only one of two people with two links becomes the first user.
        await tx.links.endAll('setup', now())
        if (await tx.users.any()) throw unusableLink()
        const user = await insertUser(tx)
        await tx.links.setUserOfSetup(link.id, user.id)
        const byOwner = joiner(user.id, by)
        if (first && (await tx.workspaces.insert(first))) recordNewWorkspace(tx, first, byOwner)
        for (const { id } of await tx.workspaces.list()) {
          await insertMember(tx, newMember(id, user.id, 'owner', now()), byOwner)
        }
        return { user }
      })
    },
    async join(token, newUser, by = byCommand()) {
      const link = await links.require(token, 'invitation')
      const workspaceId = link.workspaceId!
      const workspace = await storage.read.workspaces.byIdOrName(workspaceId)
      const insertUser = await prepare(newUser, workspace ? [workspace.name] : [], by)
      return storage.write(async (tx) => {
        // In the order in which deleting a workspace and closing an account lock them: otherwise each could wait for the other.
        const user = await insertUser(tx)
        if (!(await tx.workspaces.lock(workspaceId))) throw unusableLink()
        await links.use(tx, link)
        if (!(await insertMember(tx, newMember(workspaceId, user.id, link.role!, now()), joiner(user.id, by)))) {
          throw new ServiceError('conflict', 'you are a member of this workspace already')
        }
        return { user, workspaceId }
      })
    },
    ...createNewPasswords({ storage, now, links }),
    async byPassword(email, password, by = byCommand()) {
      const user = await storage.read.users.byEmail(email.trim().toLowerCase())
      if (await isPassword(password, user?.passwordHash)) return toUser(user!)
      // Of an address that no account has, nothing is kept: people type their password there.
      const details = { method: 'password', ...(user ? { email: user.email } : {}) }
      const entry = { event: 'sign_in.failed', at: now(), by, userId: user?.id ?? null, details } as const
      await storage.write(async (tx) => tx.audit.record(entry))
      return undefined
    },
    async rename(userId, name, by = byCommand()) {
      const checked = readName(name)
      await storage.write(async (tx) => {
        const from = (await tx.users.byId(userId))?.name ?? null
        await tx.users.setName(userId, checked)
        tx.audit.record({ event: 'account.renamed', at: now(), by, userId, details: { from, to: checked } })
      })
    },
    async list() {
      return (await storage.read.users.list()).map((user) => ({ ...toUser(user), createdAt: user.createdAt }))
    },
  }
}

/** The user whom the link let in. */
function joiner(userId: string, { address }: Acting): Acting {
  return { actor: { kind: 'user', id: userId }, address }
}

function readEmail(text: string): string {
  const email = text.trim().toLowerCase()
  if (!EMAIL.test(email)) throw new ServiceError('bad_request', 'the e-mail address is not valid')
  return email
}
