/** Accounts: creating them by link, passwords, and new passwords. A person needs a link to get an account. */
import type { Instant } from '@claimcheck/core'
import { ServiceError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import { readName } from '../base/names.ts'
import type { NewUserRow, Role } from '../storage/people.ts'
import type { Storage, Writes } from '../storage/storage.ts'
import { newWorkspace, requireWorkspace } from '../workspaces/workspaces.ts'
import { requireCurrent } from './current.ts'
import { type Identity, insertIdentity } from './identities.ts'
import { openLinks, unusableLink } from './links.ts'
import { newMember } from './members.ts'
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

export interface AccountService extends NewPasswords {
  /** A token for the first user. Using one setup token ends all others. Undefined when an account exists. */
  setupToken(): Promise<string | undefined>
  /**
   * A token with which one person joins a workspace.
   * @param createdBy the id of an owner; null for the command line
   * @throws ServiceError `conflict` when `createdBy` is not an owner any more
   */
  inviteToken(workspaceId: string, role: Role, createdBy: string | null): Promise<string>
  /** A token with which a user chooses a new password. @throws ServiceError `not_found` */
  resetToken(email: string): Promise<string>
  /** Undefined when the link was used, has expired or does not exist. */
  link(token: string): Promise<Link | undefined>
  /**
   * Creates the first user as owner of every workspace, and of those that the command line creates later; creates a workspace when
   * none exists.
   * @throws ServiceError `bad_request`, `conflict`, `not_found`
   */
  setUp(token: string, newUser: NewUser, workspaceName: string): Promise<{ readonly user: User }>
  /** @throws ServiceError `bad_request`, `conflict` when the address has an account, `not_found` for an unusable link */
  join(token: string, newUser: NewUser): Promise<{ readonly user: User; readonly workspaceId: string }>
  /** Undefined unless address and password are right. */
  byPassword(email: string, password: string): Promise<User | undefined>
  /** @throws ServiceError `bad_request` */
  rename(userId: string, name: string): Promise<void>
  /** All users, oldest first. */
  list(): Promise<readonly (User & { readonly createdAt: Instant })[]>
}

// Accepts what mail servers may accept, but no invisible characters and none that control a terminal.
const EMAIL = /^[^\s@<>"\p{C}]{1,64}@[^\s@<>"\p{C}]{1,190}$/u

export function createAccountService({ storage, now }: { storage: Storage; now: () => Instant }): AccountService {
  const links = openLinks({ storage, now })

  /** Hashes the password, which is slow, before the transaction starts. */
  async function prepare(newUser: NewUser, workspaces: readonly string[]): Promise<(tx: Writes) => Promise<User>> {
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
      if ('identity' in proof) await insertIdentity(tx, user.id, proof.identity, now())
      return toUser({ ...user, generation: 0, closedAt: null })
    }
  }

  return {
    setupToken: () =>
      storage.write(async (tx) => {
        if (await tx.users.any()) return undefined
        const subject = { kind: 'setup', workspaceId: null, role: null, userId: null, createdBy: null } as const
        return links.make(tx, subject)
      }),
    inviteToken: (workspaceId, role, createdBy) =>
      storage.write(async (tx) => {
        await requireWorkspace(tx, workspaceId)
        const owners = createdBy === null ? [] : await tx.members.lockOwners(workspaceId)
        if (createdBy !== null && !owners.some(({ userId }) => userId === createdBy)) {
          throw new ServiceError('conflict', 'only owners can invite people: ask an owner of this workspace')
        }
        return links.make(tx, { kind: 'invitation', workspaceId, role, userId: null, createdBy })
      }),
    async resetToken(email) {
      const user = await storage.read.users.byEmail(email.trim().toLowerCase())
      if (!user || user.closedAt !== null) {
        throw new ServiceError('not_found', `there is no account with the address ${email}`)
      }
      const subject = { kind: 'reset', workspaceId: null, role: null, userId: user.id, createdBy: null } as const
      return storage.write((tx) => links.make(tx, subject))
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
    async setUp(token, newUser, workspaceName) {
      const link = await links.require(token, 'setup')
      const hasWorkspace = await storage.read.workspaces.any()
      const first = hasWorkspace ? undefined : newWorkspace(workspaceName, now())
      const insertUser = await prepare(newUser, [workspaceName])
      return storage.write(async (tx) => {
        await links.use(tx, link)
        // Ends the other setup links in the same transaction, so that only one of two people with two links becomes the first user.
        await tx.links.endAll('setup', now())
        if (await tx.users.any()) throw unusableLink()
        const user = await insertUser(tx)
        await tx.links.setUserOfSetup(link.id, user.id)
        if (first) await tx.workspaces.insert(first)
        for (const { id } of await tx.workspaces.list()) {
          await tx.members.insert(newMember(id, user.id, 'owner', now()))
        }
        return { user }
      })
    },
    async join(token, newUser) {
      const link = await links.require(token, 'invitation')
      const workspaceId = link.workspaceId!
      const workspace = await storage.read.workspaces.byIdOrName(workspaceId)
      const insertUser = await prepare(newUser, workspace ? [workspace.name] : [])
      return storage.write(async (tx) => {
        await links.use(tx, link)
        const user = await insertUser(tx)
        if (!(await tx.workspaces.lock(workspaceId))) throw unusableLink()
        if (!(await tx.members.insert(newMember(workspaceId, user.id, link.role!, now())))) {
          throw new ServiceError('conflict', 'you are a member of this workspace already')
        }
        return { user, workspaceId }
      })
    },
    ...createNewPasswords({ storage, now, links }),
    async byPassword(email, password) {
      const user = await storage.read.users.byEmail(email.trim().toLowerCase())
      return (await isPassword(password, user?.passwordHash)) ? toUser(user!) : undefined
    },
    async rename(userId, name) {
      const checked = readName(name)
      await storage.write((tx) => tx.users.setName(userId, checked))
    },
    async list() {
      return (await storage.read.users.list()).map((user) => ({ ...toUser(user), createdAt: user.createdAt }))
    },
  }
}

function readEmail(text: string): string {
  const email = text.trim().toLowerCase()
  if (!EMAIL.test(email)) throw new ServiceError('bad_request', 'the e-mail address is not valid')
  return email
}
