/** People: accounts, ways to sign in, sessions, and membership in workspaces. */

import { recordContext } from '../../base/tokens.ts'
import type { Feature } from '../../host/feature.ts'
import { seenBrowsers } from '../../storage/mails.ts'
import { members, users } from '../../storage/people.ts'
import { records } from '../../storage/records.ts'
import { secondStepContext } from '../../storage/sealed-contexts.ts'
import { recoveryCodes, secondSteps } from '../../storage/second-steps.ts'
import { identities, links, passkeys, sessions } from '../../storage/sign-in.ts'
import { throttles } from '../../storage/throttles.ts'
import { workspaces } from '../../storage/workspaces.ts'
import { addUserCommands } from './commands/user.ts'
import { peopleConfig } from './config.ts'
import { examineAccounts } from './examine.ts'
import { peopleMigrations } from './migrations.ts'

export const peopleFeature = {
  name: 'people',
  stored: {
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
    ] as const,
    migrations: peopleMigrations,
    examine: examineAccounts,
  },
  auditWords: {
    'account.allowance_changed': 'changed with which account an account shares its allowance',
    'account.address_confirmed': 'confirmed the address of the account',
    'account.address_link_made': 'asked for a link that confirms the address of the account',
    'account.address_taken': 'took an unconfirmed address from an account',
    'account.closed': 'closed an account',
    'account.created': 'made an account',
    'account.renamed': 'changed the name of the account',
    'identity.linked': 'linked an outside sign-in to the account',
    'identity.unlinked': 'unlinked an outside sign-in from the account',
    'member.invitation_withdrawn': 'withdrew an invitation',
    'member.invited': 'made an invitation',
    'member.joined': 'joined the workspace',
    'member.left': 'left the workspace',
    'member.removed': 'removed a member',
    'member.role_changed': 'changed the role of a member',
    'passkey.added': 'added a passkey',
    'passkey.removed': 'removed a passkey',
    'password.changed': 'changed the password',
    'password.chosen': 'chose a first password',
    'password.link_made': 'made a link to a new password',
    'password.reset': 'chose a new password with a link',
    'second_step.code_used': 'signed in with a recovery code',
    'second_step.codes_replaced': 'made new recovery codes',
    'second_step.failed': 'typed a wrong code at signing in',
    'second_step.off': 'switched a second step off',
    'second_step.on': 'switched a second step on',
    'service.setup_link_made': 'made a link to set the service up',
    'session.ended': 'ended a session',
    'session.others_ended': 'ended all other sessions of the account',
    'session.signed_out': 'signed out',
    'sign_in.failed': 'tried to sign in, and was refused',
    'sign_in.succeeded': 'signed in',
    'workspace.payer_changed': 'pays for the workspace from then on',
    'workspace.sign_in_rule_changed': 'changed which sign-in a workspace asks for',
  },
  config: peopleConfig,
  services: async () => (await import('./services.ts')).services,
  commands: addUserCommands,
} satisfies Feature
