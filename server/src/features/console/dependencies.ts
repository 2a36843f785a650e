/** What the console needs of the installation. */
import type { Instant } from '@claimcheck/core/rules'
import type { OwnAddress } from '../../base/own-address.ts'
import type { HostConfig } from '../../config/config.ts'
import type { Counters } from '../../http/counters.ts'
import type { Registry } from '../../plugins/registry.ts'
import type { AuditTrailService } from '../audit-trail/audit-trail.ts'
import type { AgentService } from '../claims/agents.ts'
import type { ClaimStatistics } from '../claims/claim-statistics.ts'
import type { ClaimService } from '../claims/claims.ts'
import type { Quotas } from '../claims/quotas.ts'
import type { ErasureConfig } from '../erasure/config.ts'
import type { RetentionService } from '../erasure/retention.ts'
import type { LogService } from '../log/log.ts'
import type { Outbox } from '../mail/outbox.ts'
import type { ApplicationService } from '../oauth/applications.ts'
import type { MachineService } from '../oauth/machines.ts'
import type { OAuth } from '../oauth/oauth.ts'
import type { AccountDeletion } from '../people/account-deletion.ts'
import type { AccountService } from '../people/accounts.ts'
import type { PeopleConfig } from '../people/config.ts'
import type { IdentityService } from '../people/identities.ts'
import type { KnownBrowsers } from '../people/known-browsers.ts'
import type { LoginThrottle } from '../people/login-throttle.ts'
import type { MemberService } from '../people/members.ts'
import type { OidcSignIn } from '../people/oidc-sign-in.ts'
import type { PasskeyService } from '../people/passkeys.ts'
import type { SecondStepService } from '../people/second-steps.ts'
import type { SessionService } from '../people/sessions.ts'
import type { ReceiptService } from '../receipts/receipts.ts'
import type { AllowedOrigins } from '../workspaces/allowed-origins.ts'
import type { ConnectionService } from '../workspaces/connections.ts'
import type { KeyService } from '../workspaces/keys.ts'
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
  readonly accountDeletion: AccountDeletion
  readonly oidcSignIn: OidcSignIn | undefined
  readonly workspaces: WorkspaceService
  readonly keys: KeyService
  readonly oauth: OAuth
  readonly applications: ApplicationService
  readonly machines: MachineService
  readonly connections: ConnectionService
  readonly claims: ClaimService
  readonly claimStatistics: ClaimStatistics
  readonly agents: AgentService
  readonly quotas: Quotas
  readonly receipts: ReceiptService
  readonly log: LogService
  readonly retention: RetentionService
  readonly allowedOrigins: AllowedOrigins
  readonly registry: Registry
  readonly sources: Sources
  readonly counters: Counters
  readonly loginThrottle: LoginThrottle
  readonly knownBrowsers: KnownBrowsers
  readonly ownAddress: OwnAddress
  readonly outbox: Outbox
  readonly now: () => Instant
  readonly config: Pick<HostConfig, 'signInLimit' | 'publicUrl' | 'verifierPackage'> &
    Pick<PeopleConfig, 'sessionEnds'> &
    ErasureConfig
}
