/** What people store: accounts, ways to sign in, and membership. */
import { secondStepContext } from '../../base/sealed-contexts.ts'
import { recordContext } from '../../base/tokens.ts'
import { seenBrowsers } from '../../storage/mails.ts'
import { members, users } from '../../storage/people.ts'
import { records } from '../../storage/records.ts'
import type { Stored } from '../../storage/schema.ts'
import { recoveryCodes, secondSteps } from '../../storage/second-steps.ts'
import { identities, links, passkeys, sessions } from '../../storage/sign-in.ts'
import { throttles } from '../../storage/throttles.ts'
import { workspaces } from '../../storage/workspaces.ts'
import { examineAccounts } from './examine.ts'
import { peopleMigrations } from './migrations.ts'

export const peopleStored: Stored = {
  tables: [
    { table: users, owners: { shares_with: users } },
    { table: members, owners: { workspace_id: workspaces, user_id: users } },
    { table: sessions, owners: { user_id: users } },
    { table: links, owners: { workspace_id: workspaces, user_id: users } },
    { table: passkeys, owners: { user_id: users } },
    { table: identities, owners: { user_id: users } },
    {
      table: secondSteps,
      owners: { user_id: users },
      sealed: { secret: ([userId]) => secondStepContext(userId!) },
    },
    { table: recoveryCodes, owners: { user_id: users } },
    { table: seenBrowsers, owners: { user_id: users } },
    { table: records, sealed: { payload: ([kind, idHash]) => recordContext(kind!, idHash!) } },
    { table: throttles, isCopied: false },
  ],
  migrations: peopleMigrations,
  examine: examineAccounts,
}
