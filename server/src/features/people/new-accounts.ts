/** Accounts of people who enter by a link: an existing one, or a new one. */
import type { Instant } from '@claimcheck/core/rules'
import { type Acting, byUser } from '../../base/actor.ts'
import { ServiceError } from '../../base/errors.ts'
import { newId } from '../../base/ids.ts'
import { aboveInvited } from '../../base/payers.ts'
import { isReservedAddress } from '../../base/reserved-addresses.ts'
import { readName } from '../../names/names.ts'
import type { NewUserRow } from '../../storage/people.ts'
import type { Reads, Writes } from '../../storage/storage.ts'
import { recordConfirmed } from './address-confirmation.ts'
import { requireCurrent } from './current.ts'
import { type Identity, insertIdentity } from './identities.ts'
import type { LinkSubject } from './links.ts'
import { requireStrongPassword } from './password-strength.ts'
import { hashPassword } from './passwords.ts'
import { toUser, type User } from './sessions.ts'

/** The user of a link: one with an account, or a new one, who signs in with a password or through the OpenID provider. */
export type NewUser =
  | { readonly user: User }
  | {
      readonly name: string
      readonly email: string
      /** True when the OpenID provider says that the address is the person's. */
      readonly isVerified?: boolean
      /** True when the person says that the account that has the address, and never confirmed it, is not theirs. */
      readonly takesAddress?: boolean
      readonly proof: { readonly password: string } | { readonly identity: Identity }
    }

/**
 * The error for an address that an account holds which never confirmed it, although another person reads its mails. The account may be that person's
 * own, so they are asked.
 */
export class HeldAddress extends ServiceError {
  constructor() {
    super(
      'conflict',
      'an account has this address, and never confirmed it: if that is yours, sign in to it, and open the link again. If not, say so below',
    )
  }
}

export class AddressTakenError extends ServiceError {
  constructor() {
    super('conflict', 'there is an account with this address: sign in to it, then open the link again')
  }
}

// Addresses may have all that mail servers may accept, but no invisible characters and none that control a terminal.
const EMAIL = /^[^\s@<>"\p{C}]{1,64}@[^\s@<>"\p{C}]{1,190}$/u

interface Entrance {
  /** Names of workspaces, which a password may not be. */
  readonly workspaces: readonly string[]
  /** The link of the person, whose holder reads mails to its recipient. */
  readonly link: Pick<LinkSubject, 'createdBy' | 'recipient'>
  readonly by: Acting
  readonly now: () => Instant
}

/**
 * Checks a new user and hashes the password, which is slow, before the transaction starts; returns the function that stores the user.
 * @throws ServiceError `bad_request`; within the transaction `conflict`, `HeldAddress`
 */
export async function prepareUser(newUser: NewUser, entrance: Entrance): Promise<(tx: Writes) => Promise<User>> {
  if ('user' in newUser) return (tx) => confirmByLink(tx, newUser.user, entrance)
  const { proof, isVerified = false, takesAddress = false } = newUser
  const { link, workspaces, by, now } = entrance
  const [email, name] = [readEmail(newUser.email), readName(newUser.name)]
  if ('password' in proof) await requireStrongPassword(proof.password, { email, name, workspaces })
  const isTheirs = email === link.recipient || isVerified
  const user: NewUserRow = {
    id: newId('usr_', now()),
    email,
    name,
    passwordHash: 'password' in proof ? await hashPassword(proof.password) : null,
    createdAt: now(),
    confirmedAt: isTheirs ? now() : null,
  }
  const bySelf = byUser(user.id, by.address)
  return async (tx) => {
    // Whom the command line invited has an allowance.
    const inviter = link.createdBy === null ? undefined : await tx.users.byId(link.createdBy)
    const sharesWith = inviter ? aboveInvited(inviter) : null
    if (isTheirs) await takeAddress(tx, email, takesAddress, now(), bySelf)
    if (!(await tx.users.insert({ ...user, sharesWith }))) throw new AddressTakenError()
    const details = { email, method: 'password' in proof ? 'password' : 'outside' }
    tx.audit.record({ event: 'account.created', at: user.createdAt, by: bySelf, userId: user.id, details })
    if ('identity' in proof) await insertIdentity(tx, user.id, proof.identity, now(), bySelf)
    return toUser({ confirmedAt: null, ...user, sharesWith, generation: 0, closedAt: null })
  }
}

async function confirmByLink(tx: Writes, user: User, { link, by: { address }, now }: Entrance): Promise<User> {
  const row = await requireCurrent(tx, user)
  if (row.email !== link.recipient || row.confirmedAt !== null) return toUser(row)
  await recordConfirmed(tx, row, now(), byUser(row.id, address))
  return toUser({ ...row, confirmedAt: now() })
}

/** Tells whether an account has an address that it never confirmed. */
export async function isHeld({ users }: Pick<Reads, 'users'>, email: string): Promise<boolean> {
  const holder = await users.byEmail(email)
  return holder !== undefined && holder.confirmedAt === null
}

/**
 * Takes an address from an account that never confirmed it, as that does not keep it from the person who reads its mails.
 * @throws HeldAddress
 */
async function takeAddress(tx: Writes, email: string, isAsked: boolean, at: Instant, by: Acting): Promise<void> {
  if (!isAsked && (await isHeld(tx, email))) throw new HeldAddress()
  const released = await tx.users.release(email)
  if (released === undefined) return
  tx.audit.record({ event: 'account.address_taken', at, by, userId: released, details: { email } })
}

/**
 * Reads an address.
 * @throws ServiceError `bad_request`
 */
function readEmail(text: string): string {
  const email = text.trim().toLowerCase()
  if (!EMAIL.test(email)) throw new ServiceError('bad_request', 'the e-mail address is not valid')
  if (!isReservedAddress(email)) return email
  throw new ServiceError('bad_request', 'the e-mail address is not valid: no mail reaches an address under .invalid')
}
