/** Accounts: creating them by link, passwords, and new passwords. A person needs a link to get an account. */
import type { Instant } from '@claimcheck/core'
import { type Acting, byCommand } from '../base/actor.ts'
import type { AuditEvent } from '../base/audit-events.ts'
import { ServiceError } from '../base/errors.ts'
import { newId } from '../base/ids.ts'
import { readName } from '../base/names.ts'
import { hashToken, isToken, newToken } from '../base/tokens.ts'
import type { Role, UserRow } from '../storage/people.ts'
import type { LinkRow } from '../storage/sign-in.ts'
import type { Storage, Writes } from '../storage/storage.ts'
import { newWorkspace, recordNewWorkspace } from '../workspaces/workspaces.ts'
import { type Identity, insertIdentity } from './identities.ts'
import { insertMember, newMember } from './members.ts'
import { hashPassword, isPassword } from './passwords.ts'
import { toUser, type User } from './sessions.ts'

/** The user of a link: one with an account, or a new one, who signs in with a password or through the OpenID provider. */
export type NewUser =
  | { readonly userId: string }
  | {
      readonly name: string
      readonly email: string
      readonly proof: { readonly password: string } | { readonly identity: Identity }
    }

/** The purpose of a link. */
export type Link =
  | { readonly kind: 'setup' /** True when a workspace exists. */; readonly hasWorkspace: boolean }
  | { readonly kind: 'invitation'; readonly workspaceId: string; readonly workspaceName: string; readonly role: Role }
  | { readonly kind: 'reset'; readonly email: string }

/** @param by who does it; by default the command line */
export interface AccountService {
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
  setUp(token: string, newUser: NewUser, workspaceName: string, by?: Acting): Promise<{ readonly userId: string }>
  /** @throws ServiceError `bad_request`, `conflict` when the address has an account, `not_found` for an unusable link */
  join(token: string, newUser: NewUser, by?: Acting): Promise<{ readonly userId: string; readonly workspaceId: string }>
  /** Ends all sessions and all other reset links of the user. @throws ServiceError `bad_request`, `not_found` */
  reset(token: string, password: string, by?: Acting): Promise<{ readonly userId: string }>
  /** Undefined unless address and password are right, which it records. */
  byPassword(email: string, password: string, by?: Acting): Promise<User | undefined>
  /** Ends all other sessions and all reset links of the user. @throws ServiceError `bad_request`, also when `current` is wrong */
  changePassword(
    userId: string,
    change: { readonly current: string; readonly next: string; readonly sessionId: string },
    by?: Acting,
  ): Promise<void>
  /** @throws ServiceError `bad_request` */
  rename(userId: string, name: string, by?: Acting): Promise<void>
  /** All users, oldest first. */
  list(): Promise<readonly (User & { readonly createdAt: Instant })[]>
}

const SETUP_MS = 24 * 60 * 60_000
const INVITATION_MS = 7 * 24 * 60 * 60_000
const RESET_MS = 60 * 60_000

const LINK_MADE = {
  setup: 'service.setup_link_made',
  invitation: 'member.invited',
  reset: 'password.link_made',
} as const satisfies Readonly<Record<LinkRow['kind'], AuditEvent>>

// Accepts what mail servers may accept, but no invisible characters and none that control a terminal.
const EMAIL = /^[^\s@<>"\p{C}]{1,64}@[^\s@<>"\p{C}]{1,190}$/u

export function createAccountService({ storage, now }: { storage: Storage; now: () => Instant }): AccountService {
  type LinkSubject = Pick<LinkRow, 'kind' | 'workspaceId' | 'role' | 'userId' | 'createdBy'>

  async function makeLink(tx: Writes, subject: LinkSubject, lastsMs: number, by: Acting): Promise<string> {
    const token = newToken()
    const at = now()
    const id = newId('lnk_', at)
    const expiresAt = at + lastsMs
    await tx.links.insert({ ...subject, id, tokenHash: hashToken(token), createdAt: at, expiresAt, usedAt: null })
    const { kind, workspaceId, userId, role } = subject
    const details = role === null ? {} : { role }
    tx.audit.record({ event: LINK_MADE[kind], at, by, workspaceId, userId, subject: id, details })
    return token
  }

  async function openLink(token: string): Promise<LinkRow | undefined> {
    const row = isToken(token) ? await storage.read.links.byHash(hashToken(token)) : undefined
    return row && row.usedAt === null && row.expiresAt > now() ? row : undefined
  }

  async function requireLink(token: string, kind: LinkRow['kind']): Promise<LinkRow> {
    const row = await openLink(token)
    if (row?.kind !== kind) throw unusableLink()
    return row
  }

  /** Hashes the password, which is slow, before the transaction starts. */
  async function prepare(newUser: NewUser, address: string | null): Promise<(tx: Writes) => Promise<string>> {
    if ('userId' in newUser) return async () => newUser.userId
    const { proof } = newUser
    const user: UserRow = {
      id: newId('usr_', now()),
      email: readEmail(newUser.email),
      name: readName(newUser.name),
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
      return user.id
    }
  }

  async function useLink(tx: Writes, link: LinkRow): Promise<void> {
    if (!(await tx.links.use(link.id, now()))) throw unusableLink()
  }

  return {
    setupToken: (by = byCommand()) =>
      storage.write(async (tx) => {
        if (await tx.users.any()) return undefined
        const subject = { kind: 'setup', workspaceId: null, role: null, userId: null, createdBy: null } as const
        return makeLink(tx, subject, SETUP_MS, by)
      }),
    inviteToken: (workspaceId, role, createdBy, by = byCommand()) =>
      storage.write(async (tx) => {
        const owners = createdBy === null ? [] : await tx.members.lockOwners(workspaceId)
        if (createdBy !== null && !owners.some(({ userId }) => userId === createdBy)) {
          throw new ServiceError('conflict', 'only owners can invite people: ask an owner of this workspace')
        }
        return makeLink(tx, { kind: 'invitation', workspaceId, role, userId: null, createdBy }, INVITATION_MS, by)
      }),
    async resetToken(email, by = byCommand()) {
      const user = await storage.read.users.byEmail(email.trim().toLowerCase())
      if (!user) throw new ServiceError('not_found', `there is no account with the address ${email}`)
      const subject = { kind: 'reset', workspaceId: null, role: null, userId: user.id, createdBy: null } as const
      return storage.write((tx) => makeLink(tx, subject, RESET_MS, by))
    },
    async link(token) {
      const row = await openLink(token)
      if (row?.kind === 'setup') return { kind: 'setup', hasWorkspace: await storage.read.workspaces.any() }
      if (row?.kind === 'reset') {
        const user = await storage.read.users.byId(row.userId!)
        return user && { kind: 'reset', email: user.email }
      }
      const workspace = row && (await storage.read.workspaces.byIdOrName(row.workspaceId!))
      if (!row || !workspace) return undefined
      return { kind: 'invitation', workspaceId: workspace.id, workspaceName: workspace.name, role: row.role! }
    },
    async setUp(token, newUser, workspaceName, by = byCommand()) {
      const link = await requireLink(token, 'setup')
      const hasWorkspace = await storage.read.workspaces.any()
      const first = hasWorkspace ? undefined : newWorkspace(workspaceName, now())
      const insertUser = await prepare(newUser, by.address)
      return storage.write(async (tx) => {
        await useLink(tx, link)
        // Ends the other setup links in the same transaction, so that only one of two people with two links becomes the first user.
        await tx.links.endAll('setup', now())
        if (await tx.users.any()) throw unusableLink()
        const userId = await insertUser(tx)
        await tx.links.setUserOfSetup(link.id, userId)
        const byOwner = joiner(userId, by)
        if (first && (await tx.workspaces.insert(first))) recordNewWorkspace(tx, first, byOwner)
        for (const { id } of await tx.workspaces.list()) {
          await insertMember(tx, newMember(id, userId, 'owner', now()), byOwner)
        }
        return { userId }
      })
    },
    async join(token, newUser, by = byCommand()) {
      const link = await requireLink(token, 'invitation')
      const insertUser = await prepare(newUser, by.address)
      const workspaceId = link.workspaceId!
      return storage.write(async (tx) => {
        await useLink(tx, link)
        const userId = await insertUser(tx)
        if (!(await insertMember(tx, newMember(workspaceId, userId, link.role!, now()), joiner(userId, by)))) {
          throw new ServiceError('conflict', 'you are a member of this workspace already')
        }
        return { userId, workspaceId }
      })
    },
    async reset(token, password, by = byCommand()) {
      const link = await requireLink(token, 'reset')
      const passwordHash = await hashPassword(password)
      const userId = link.userId!
      await storage.write(async (tx) => {
        // The lock makes two resets of one user run one after the other: the first ends the link of the second.
        await tx.users.lock(userId)
        await useLink(tx, link)
        await tx.links.endResets(userId, now())
        await tx.users.setPassword(userId, passwordHash)
        const ended = await tx.sessions.endAll(userId)
        const about = { userId, subject: link.id, details: { sessions_ended: ended } }
        tx.audit.record({ event: 'password.reset', at: now(), by, ...about })
      })
      return { userId }
    },
    async byPassword(email, password, by = byCommand()) {
      const user = await storage.read.users.byEmail(email.trim().toLowerCase())
      if (await isPassword(password, user?.passwordHash)) return toUser(user!)
      // Of an address that no account has, nothing is kept: people type their password there.
      const details = { method: 'password', ...(user ? { email: user.email } : {}) }
      const entry = { event: 'sign_in.failed', at: now(), by, userId: user?.id ?? null, details } as const
      await storage.write(async (tx) => tx.audit.record(entry))
      return undefined
    },
    async changePassword(userId, { current, next, sessionId }, by = byCommand()) {
      const user = await storage.read.users.byId(userId)
      const isAllowed = user && (user.passwordHash === null || (await isPassword(current, user.passwordHash)))
      if (!isAllowed) throw new ServiceError('bad_request', 'the current password is wrong')
      const passwordHash = await hashPassword(next)
      await storage.write(async (tx) => {
        await tx.users.lock(userId)
        await tx.links.endResets(userId, now())
        await tx.users.setPassword(userId, passwordHash)
        const ended = await tx.sessions.endAll(userId, sessionId)
        const event = user.passwordHash === null ? 'password.chosen' : 'password.changed'
        tx.audit.record({ event, at: now(), by, userId, details: { sessions_ended: ended } })
      })
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

export function unusableLink(): ServiceError {
  return new ServiceError('not_found', 'this link cannot be used: it was used before, has expired, or was withdrawn')
}

function readEmail(text: string): string {
  const email = text.trim().toLowerCase()
  if (!EMAIL.test(email)) throw new ServiceError('bad_request', 'the e-mail address is not valid')
  return email
}
