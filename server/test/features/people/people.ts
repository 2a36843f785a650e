/** People's services on a database of their own, with a clock that the test turns. */
import { join } from 'node:path'
import { openSecrets } from '@claimcheck/server/base/secrets'
import type { Config } from '@claimcheck/server/features'
import { createAccountDeletion } from '@claimcheck/server/features/people/account-deletion'
import { createAccountService } from '@claimcheck/server/features/people/accounts'
import { createAddressConfirmation } from '@claimcheck/server/features/people/address-confirmation'
import { createAllowances } from '@claimcheck/server/features/people/allowances'
import { createIdentityService } from '@claimcheck/server/features/people/identities'
import { createMemberService } from '@claimcheck/server/features/people/members'
import { createPasskeyService } from '@claimcheck/server/features/people/passkeys'
import { createSecondStepService } from '@claimcheck/server/features/people/second-steps'
import { createSessionService } from '@claimcheck/server/features/people/sessions'
import { createTicketService } from '@claimcheck/server/features/people/tickets'
import { KeyService } from '@claimcheck/server/features/workspaces/keys'
import { createWorkspaceService } from '@claimcheck/server/features/workspaces/workspaces'
import type { Storage } from '@claimcheck/server/storage/storage'
import type { Test } from 'tap'
import { createDatabase } from '../../../../test/support/database.ts'
import { openPostgres, openSqlite } from '../../../../test/support/storage.ts'

export const NOON = Date.UTC(2026, 8, 25, 12)
export const PASSWORD = 'purple lantern orbit cactus'
export const ISSUER = 'https://id.example.com'
export const SESSION_ENDS = { idleMs: 24 * 60 * 60_000, longestMs: 14 * 24 * 60 * 60_000 }
/** Nothing but the password stays. */
export const NONE_KEPT = { passkeys: [], identities: [] }
export const VISITOR = { userAgent: 'test', address: '192.0.2.1' }

const OUTSIDE = { issuer: ISSUER, clientId: 'claimcheck', clientSecret: 'secret', name: 'Example' }

export interface PeopleOptions {
  /** Other than a SQLite file of its own. Closed with the test. */
  readonly storage?: Storage
  readonly config?: Pick<Config, 'oidcSignIn' | 'sessionEnds'>
}

export async function openPeople(t: Test, options: PeopleOptions = {}) {
  const { config = { oidcSignIn: OUTSIDE, sessionEnds: SESSION_ENDS } } = options
  const folder = t.testdir()
  const storage = options.storage ?? (await openSqlite(join(folder, 'claimcheck.db')))
  t.teardown(() => storage.close())
  const clock = { now: NOON }
  const now = () => clock.now
  const secrets = openSecrets({ secretKey: Buffer.alloc(32, 7), dataDir: folder })
  const tickets = createTicketService({ storage, secrets, now })
  return {
    storage,
    clock,
    secrets,
    tickets,
    allowances: createAllowances({ storage, now }),
    accounts: createAccountService({ storage, now }),
    addressConfirmation: createAddressConfirmation({ storage, now }),
    sessions: createSessionService({ storage, now, config }),
    secondSteps: createSecondStepService({ storage, secrets, tickets, now }),
    accountDeletion: createAccountDeletion({ storage, now }),
    workspaces: createWorkspaceService({ storage, now }),
    keys: new KeyService({ storage, now, activity: { keyUsed() {} } }),
    members: createMemberService({ storage, now }),
    identities: createIdentityService({ storage, now, config }),
    passkeys: createPasskeyService({ storage, tickets, now, config }),
  }
}

export type People = Awaited<ReturnType<typeof openPeople>>

export function newUser(name: string) {
  return { name, email: `${name}@example.com`, proof: { password: PASSWORD } }
}

/** The first person, in the workspace `acme`. */
export async function first({ accounts, members }: People) {
  const { user } = await accounts.setUp((await accounts.setupToken())!, newUser('ann'), 'acme')
  const [workspace] = await members.workspacesOf(user.id)
  return { user, userId: user.id, workspaceId: workspace!.id, memberId: workspace!.memberId }
}

/** With the first person. */
export async function openFirst(t: Test, options?: PeopleOptions) {
  const people = await openPeople(t, options)
  return { ...people, ...(await first(people)) }
}

/** Where transactions run side by side. */
export async function onPostgres(t: Test) {
  const database = await createDatabase('postgres')
  const people = await openPeople(t, { storage: await openPostgres(database.env.DATABASE_URL!) })
  t.teardown(() => database.remove())
  return people
}
