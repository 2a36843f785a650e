/** Every table, by what happens to it when an installation is copied to another database. A table that a migration makes is named here. */

import { allowedOrigins } from './allowed-origins.ts'
import { anchors } from './anchor-row.ts'
import { auditTrail } from './audit-query.ts'
import { auditTrailHead } from './audit-trail.ts'
import { checks, claims } from './claim-row.ts'
import { rateCounters } from './counters.ts'
import { erasures } from './erasures.ts'
import { leases } from './leases.ts'
import { evidence, receipts, sealedSigningKeys, signingKeys, tiles } from './log.ts'
import { logs, treeHeads } from './log-state.ts'
import { machines } from './machines.ts'
import { mails, seenBrowsers } from './mails.ts'
import { members, users } from './people.ts'
import { records } from './records.ts'
import { retentions } from './retentions.ts'
import { recoveryCodes, secondSteps } from './second-steps.ts'
import { identities, links, passkeys, sessions } from './sign-in.ts'
import type { Table } from './table.ts'
import { throttles } from './throttles.ts'
import { apiKeys, boundAgents, connections, workspaces } from './workspaces.ts'

/** Copied, in this order: owners before the rows that refer to them. */
export const CARRIED: readonly Table<unknown>[] = [
  users,
  workspaces,
  members,
  sessions,
  links,
  passkeys,
  identities,
  secondSteps,
  recoveryCodes,
  records,
  apiKeys,
  boundAgents,
  machines,
  mails,
  seenBrowsers,
  connections,
  retentions,
  allowedOrigins,
  claims,
  checks,
  signingKeys,
  logs,
  treeHeads,
  receipts,
  evidence,
  erasures,
  tiles,
  anchors,
  auditTrail,
  auditTrailHead,
]

/** Not copied: private keys, which the key vaults hand over, and what hosts keep while they run. */
export const NOT_CARRIED: readonly Table<unknown>[] = [sealedSigningKeys, leases, throttles]

/** Not copied, and only in a database that hosts share. */
export const SHARED: readonly Table<unknown>[] = [rateCounters]

/** The state of the schema. These have rows in a database that is otherwise empty. */
export const BOOKKEEPING: readonly string[] = ['migrations', 'migrations_lock']
