/** Every table, and what each is to an installation that moves to another database. The migrations make them; a new one is named here. */
import { anchors } from './anchor-row.ts'
import { checks, claims } from './claim-row.ts'
import { rateCounters } from './counters.ts'
import { leases } from './leases.ts'
import { receipts, retiredLogs, sealedSigningKeys, signingKeys, tiles, treeHeads } from './log.ts'
import { log } from './log-state.ts'
import { members, users } from './people.ts'
import { records } from './records.ts'
import { identities, links, passkeys, sessions } from './sign-in.ts'
import type { Table } from './table.ts'
import { apiKeys, connections, workspaces } from './workspaces.ts'

/** What an installation is, owners before what refers to them. */
export const CARRIED: readonly Table<unknown>[] = [
  users,
  workspaces,
  members,
  sessions,
  links,
  passkeys,
  identities,
  records,
  apiKeys,
  connections,
  claims,
  checks,
  signingKeys,
  log,
  retiredLogs,
  receipts,
  tiles,
  treeHeads,
  anchors,
]

/** What stays where it is: private keys, which go from vault to vault, and what hosts keep while they run. */
export const NOT_CARRIED: readonly Table<unknown>[] = [sealedSigningKeys, leases]

/** There where hosts share a database, and not carried either. */
export const SHARED: readonly Table<unknown>[] = [rateCounters]

/** How far the schema has come: has rows in a database that is otherwise empty, too. */
export const BOOKKEEPING: readonly string[] = ['migrations', 'migrations_lock']
