/** What the console needs of the installation. */

import type { Instant } from '@claimcheck/core'
import type { Config } from '../config.ts'
import type { Counters } from '../http/counters.ts'
import type { ApplicationService } from '../oauth/applications.ts'
import type { OAuth } from '../oauth/oauth.ts'
import type { Registry } from '../plugins.ts'
import type { ClaimCounts } from '../services/claim-counts.ts'
import type { ClaimService } from '../services/claims.ts'
import type { ConnectionService } from '../services/connections.ts'
import type { KeyService } from '../services/keys.ts'
import type { LogService } from '../services/log.ts'
import type { AccountService } from '../services/people/accounts.ts'
import type { IdentityService } from '../services/people/identities.ts'
import type { MemberService } from '../services/people/members.ts'
import type { OutsideSignIn } from '../services/people/outside-sign-in.ts'
import type { PasskeyService } from '../services/people/passkeys.ts'
import type { SessionService } from '../services/people/sessions.ts'
import type { ReceiptService } from '../services/receipts.ts'

export interface ConsoleParts {
  readonly accounts: AccountService
  readonly sessions: SessionService
  readonly members: MemberService
  readonly passkeys: PasskeyService
  readonly identities: IdentityService
  readonly outsideSignIn: OutsideSignIn | undefined
  readonly keys: KeyService
  readonly oauth: OAuth
  readonly applications: ApplicationService
  readonly connections: ConnectionService
  readonly claims: ClaimService
  readonly claimCounts: ClaimCounts
  readonly receipts: ReceiptService
  readonly log: LogService
  readonly registry: Registry
  readonly counters: Counters
  readonly now: () => Instant
  readonly config: Pick<Config, 'signInLimit' | 'publicUrl'>
}
