/** What the console needs of the installation. */
import type { Instant } from '@claimcheck/core'
import type { AuditTrailService } from '../audit-trail/audit-trail.ts'
import type { OwnAddress } from '../base/own-address.ts'
import type { AgentService } from '../claims/agents.ts'
import type { ClaimCounts } from '../claims/claim-counts.ts'
import type { ClaimService } from '../claims/claims.ts'
import type { Quotas } from '../claims/quotas.ts'
import type { Config } from '../config/config.ts'
import type { RetentionService } from '../erasure/retention.ts'
import type { Counters } from '../hosts/counters.ts'
import type { LogService } from '../log/log.ts'
import type { ReceiptService } from '../log/receipts.ts'
import type { Outbox } from '../mail/outbox.ts'
import type { ApplicationService } from '../oauth/applications.ts'
import type { MachineService } from '../oauth/machines.ts'
import type { OAuth } from '../oauth/oauth.ts'
import type { AccountService } from '../people/accounts.ts'
import type { ClosingService } from '../people/closing.ts'
import type { Guesses } from '../people/guesses.ts'
import type { IdentityService } from '../people/identities.ts'
import type { KnownBrowsers } from '../people/known-browsers.ts'
import type { MemberService } from '../people/members.ts'
import type { OidcSignIn } from '../people/oidc-sign-in.ts'
import type { PasskeyService } from '../people/passkeys.ts'
import type { SecondStepService } from '../people/second-steps.ts'
import type { SessionService } from '../people/sessions.ts'
import type { Registry } from '../plugins/registry.ts'
import type { ConnectionService } from '../workspaces/connections.ts'
import type { KeyService } from '../workspaces/keys.ts'
import type { SiteService } from '../workspaces/sites.ts'
import type { Sources } from '../workspaces/sources.ts'
import type { WorkspaceService } from '../workspaces/workspaces.ts'

export interface ConsoleDependencies {
  readonly auditTrail: AuditTrailService
  readonly accounts: AccountService
  readonly sessions: SessionService
  readonly members: MemberService
  readonly passkeys: PasskeyService
  readonly identities: IdentityService
  readonly secondSteps: SecondStepService
  readonly closing: ClosingService
  readonly oidcSignIn: OidcSignIn | undefined
  readonly workspaces: WorkspaceService
  readonly keys: KeyService
  readonly oauth: OAuth
  readonly applications: ApplicationService
  readonly machines: MachineService
  readonly connections: ConnectionService
  readonly claims: ClaimService
  readonly claimCounts: ClaimCounts
  readonly agents: AgentService
  readonly quotas: Quotas
  readonly receipts: ReceiptService
  readonly log: LogService
  readonly retention: RetentionService
  readonly sites: SiteService
  readonly registry: Registry
  readonly sources: Sources
  readonly counters: Counters
  readonly guesses: Guesses
  readonly knownBrowsers: KnownBrowsers
  readonly ownAddress: OwnAddress
  readonly outbox: Outbox
  readonly now: () => Instant
  readonly config: Pick<Config, 'signInLimit' | 'publicUrl' | 'sessionEnds' | 'retention' | 'verifierPackage'>
}
