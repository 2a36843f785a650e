/** Wires the parts of an installation. Each part declares its dependencies; only this module knows where they come from. */
import type { Instant } from '@claimcheck/core'
import { asFunction, asValue, createContainer, InjectionMode } from 'awilix'
import { type Logger, pino } from 'pino'
import { createAnchorWorker } from './anchoring/anchor-worker.ts'
import { type Anchoring, createAnchoring } from './anchoring/anchoring.ts'
import { type AuditTrailService, createAuditTrail } from './audit-trail/audit-trail.ts'
import { createAuditRetention } from './audit-trail/retention.ts'
import { createOwnAddress, type OwnAddress } from './base/own-address.ts'
import { openSecrets, type Secrets } from './base/secrets.ts'
import type { Worker } from './base/worker.ts'
import { type Adjudication, createAdjudication } from './claims/adjudication.ts'
import { type Admission, createAdmission } from './claims/admission.ts'
import { type AgentService, createAgentService } from './claims/agents.ts'
import { type CheckRunner, createCheckRunner } from './claims/check.ts'
import { type ClaimCounts, createClaimCounts } from './claims/claim-counts.ts'
import { type ClaimService, createClaimService } from './claims/claims.ts'
import { createDueClaims, type DueClaims } from './claims/due-claims.ts'
import { createLateness, type Lateness } from './claims/lateness.ts'
import { createQuotas, type Quotas } from './claims/quotas.ts'
import { createRecheckWorker, type RecheckWorker } from './claims/recheck-worker.ts'
import { listeningUrl } from './config/address.ts'
import type { Config } from './config/config.ts'
import { createOAuthPages } from './console/oauth/pages.ts'
import { createErasureService, type ErasureService } from './erasure/erasure.ts'
import { createRetentionService, type RetentionService } from './erasure/retention.ts'
import { createRetentionWorker } from './erasure/retention-worker.ts'
import { type Clock, openClock } from './hosts/clock.ts'
import { type ClockWatch, createClockWatch } from './hosts/clock-watch.ts'
import { type Counters, createCounters } from './hosts/counters.ts'
import { createLogService, type LogService } from './log/log.ts'
import { createLogGuard, type LogGuard } from './log/log-guard.ts'
import { createLogWriter, type LogWriter } from './log/log-writer.ts'
import { createReceiptService, type ReceiptService } from './log/receipts.ts'
import { createSequencer, type Sequencer } from './log/sequencer.ts'
import { createHeadMemory, type HeadMemory } from './log/signing/head-memory.ts'
import { createKeyVault } from './log/signing/key-vault.ts'
import { createSigningKeys, type KeyVault, type SigningKeys } from './log/signing/signing-keys.ts'
import { startSequencerThread } from './log/thread/sequencer-thread.ts'
import { createMailWorker } from './mail/mail-worker.ts'
import { createNotices, type Notices } from './mail/notices.ts'
import { createOutbox, type Outbox } from './mail/outbox.ts'
import { type ApplicationService, createApplicationService } from './oauth/applications.ts'
import { createKeyExchange, type KeyExchange } from './oauth/key-exchange.ts'
import { createMachineService, type MachineService } from './oauth/machines.ts'
import { createOAuth, type OAuth } from './oauth/oauth.ts'
import type { OAuthPages } from './oauth/pages.ts'
import { createOAuthRecords, type OAuthRecords } from './oauth/records.ts'
import { createTokenService, type TokenService } from './oauth/tokens.ts'
import { type Allowances, createAllowances } from './outbound/allowances.ts'
import { createDestinations, type Destinations } from './outbound/destinations.ts'
import { createOutbound, type Outbound } from './outbound/outbound.ts'
import { type AccountService, createAccountService } from './people/accounts.ts'
import { type ClosingService, createClosingService } from './people/closing.ts'
import { createGuesses, type Guesses } from './people/guesses.ts'
import { createIdentityService, type IdentityService } from './people/identities.ts'
import { createKnownBrowsers, type KnownBrowsers } from './people/known-browsers.ts'
import { createMemberService, type MemberService } from './people/members.ts'
import { createOidcSignIn, type OidcSignIn } from './people/oidc-sign-in.ts'
import { createPasskeyService, type PasskeyService } from './people/passkeys.ts'
import { createSecondStepService, type SecondStepService } from './people/second-steps.ts'
import { createSessionService, type SessionService } from './people/sessions.ts'
import { createTicketService, type TicketService } from './people/tickets.ts'
import { loadPlugins } from './plugins/plugins.ts'
import { EMPTY_REGISTRY, type Registry } from './plugins/registry.ts'
import { openStorage } from './storage/open.ts'
import type { OpenStorageOptions } from './storage/pools.ts'
import type { Storage } from './storage/storage.ts'
import { type Activity, createActivity } from './workspaces/activity.ts'
import { type ConnectionService, createConnectionService } from './workspaces/connections.ts'
import { createKeyService, type KeyService } from './workspaces/keys.ts'
import { createSiteService, type SiteService } from './workspaces/sites.ts'
import { createSources, type Sources } from './workspaces/sources.ts'
import { createWorkspaceService, type WorkspaceService } from './workspaces/workspaces.ts'

/** The parts of an open installation. Each part is created on first use. */
export interface Claimcheck {
  readonly config: Config
  readonly logger: Logger
  readonly clock: Clock
  readonly now: () => Instant
  readonly storage: Storage
  readonly registry: Registry

  readonly secrets: Secrets
  readonly ownAddress: OwnAddress
  readonly outbox: Outbox
  readonly notices: Notices
  readonly mailWorker: Worker
  readonly outbound: Outbound
  readonly destinations: Destinations
  readonly allowances: Allowances
  readonly vault: KeyVault
  readonly headMemory: HeadMemory
  readonly logGuard: LogGuard
  readonly signingKeys: SigningKeys
  readonly logWriter: LogWriter
  readonly sequencer: Sequencer
  readonly sources: Sources
  readonly clockWatch: ClockWatch
  readonly checkRunner: CheckRunner
  readonly admission: Admission
  readonly lateness: Lateness
  readonly quotas: Quotas
  readonly adjudication: Adjudication
  readonly dueClaims: DueClaims
  readonly recheckWorker: RecheckWorker
  readonly activity: Activity
  /** Undefined when no anchorer is configured. */
  readonly anchoring: Anchoring | undefined
  readonly anchorWorker: Worker

  readonly auditTrail: AuditTrailService
  readonly auditRetention: Worker
  readonly accounts: AccountService
  readonly sessions: SessionService
  readonly members: MemberService
  readonly tickets: TicketService
  readonly guesses: Guesses
  readonly knownBrowsers: KnownBrowsers
  readonly passkeys: PasskeyService
  readonly identities: IdentityService
  readonly secondSteps: SecondStepService
  readonly closing: ClosingService
  /** Undefined when no OpenID provider is configured. */
  readonly oidcSignIn: OidcSignIn | undefined
  readonly workspaces: WorkspaceService
  readonly keys: KeyService
  readonly oauthRecords: OAuthRecords
  readonly oauthPages: OAuthPages
  readonly oauth: OAuth
  readonly applications: ApplicationService
  readonly keyExchange: KeyExchange
  readonly machines: MachineService
  readonly tokens: TokenService
  readonly connections: ConnectionService
  readonly claims: ClaimService
  readonly claimCounts: ClaimCounts
  readonly agents: AgentService
  readonly receipts: ReceiptService
  readonly log: LogService
  readonly erasure: ErasureService
  readonly retention: RetentionService
  readonly sites: SiteService
  readonly retentionWorker: Worker
  readonly counters: Counters

  readonly close: () => Promise<void>
}

interface OpenOptions extends Pick<OpenStorageOptions, 'beforeStatement' | 'drivers'> {
  /** Loads the configured plugins. Commands that use no destination work without them. */
  readonly plugins: boolean
  /** This host's monotonic clock. */
  readonly now?: () => Instant
  /** The system's clock; without it `now`, where there is one. */
  readonly wall?: () => Instant
  /** Waits for a busy database without a time limit. */
  readonly patient?: boolean
  /** The module of the sequencer's thread; without it the sequencer runs in this thread. */
  readonly sequencerThread?: URL | undefined
}

/** @throws StorageError, PluginError */
export async function openClaimcheck(
  config: Config,
  { plugins, now: steady, wall = steady, beforeStatement, drivers, patient = false, sequencerThread }: OpenOptions,
): Promise<Claimcheck> {
  // Logs go to standard error, because commands print their results on standard output.
  const logger = pino({ level: config.logLevel }, pino.destination({ fd: 2, sync: true }))
  const storage = await openStorage(config, { beforeStatement, drivers, patient })
  const clocks = { ...(steady ? { steady } : {}), ...(wall ? { wall } : {}) }
  const clock = await openClock({ storage, logger, ...clocks }).catch(closing(storage))
  const { now } = clock
  const registry = plugins ? await loadPlugins(config, { logger, now }).catch(closing(clock, storage)) : EMPTY_REGISTRY

  const container = createContainer<Claimcheck>({ injectionMode: InjectionMode.PROXY, strict: true })
  container.register({
    config: asValue(config),
    logger: asValue(logger),
    clock: asValue(clock),
    now: asValue(now),
    storage: asValue(config.mail ? withNotices(storage, () => container.cradle.notices) : storage),
    registry: asValue(registry),

    secrets: asFunction(() => openSecrets(config)).singleton(),
    ownAddress: asFunction(() =>
      createOwnAddress({ publicUrl: config.publicUrl, listening: listeningUrl(config) }),
    ).singleton(),
    outbox: asFunction(createOutbox).singleton(),
    notices: asFunction(createNotices).singleton(),
    mailWorker: asFunction(createMailWorker).singleton(),
    outbound: asFunction(() => createOutbound(config))
      .singleton()
      .disposer((outbound) => outbound.close()),
    destinations: asFunction(createDestinations).singleton(),
    allowances: asFunction(createAllowances).singleton(),
    vault: asFunction(createKeyVault)
      .singleton()
      .disposer((vault) => vault.close()),
    headMemory: asFunction(createHeadMemory).singleton(),
    logGuard: asFunction(createLogGuard).singleton(),
    signingKeys: asFunction(createSigningKeys).singleton(),
    logWriter: asFunction(createLogWriter).singleton(),
    ...(sequencerThread
      ? {
          sequencer: asFunction((parts: Claimcheck) => startSequencerThread(sequencerThread, parts))
            .singleton()
            .disposer((thread) => thread.close()),
        }
      : { sequencer: asFunction(createSequencer).singleton() }),
    activity: asFunction(createActivity)
      .singleton()
      .disposer((activity) => activity.close()),
    sources: asFunction(createSources).singleton(),
    clockWatch: asFunction(createClockWatch).singleton(),
    checkRunner: asFunction(createCheckRunner).singleton(),
    admission: asFunction(createAdmission).singleton(),
    lateness: asFunction(createLateness).singleton(),
    quotas: asFunction(createQuotas).singleton(),
    adjudication: asFunction(createAdjudication).singleton(),
    dueClaims: asFunction(createDueClaims).singleton(),
    recheckWorker: asFunction(createRecheckWorker).singleton(),
    anchoring: asFunction(createAnchoring).singleton(),
    anchorWorker: asFunction(createAnchorWorker).singleton(),

    auditTrail: asFunction(createAuditTrail).singleton(),
    auditRetention: asFunction(createAuditRetention).singleton(),
    accounts: asFunction(createAccountService).singleton(),
    sessions: asFunction(createSessionService).singleton(),
    members: asFunction(createMemberService).singleton(),
    tickets: asFunction(createTicketService).singleton(),
    guesses: asFunction(createGuesses).singleton(),
    knownBrowsers: asFunction(createKnownBrowsers).singleton(),
    passkeys: asFunction(createPasskeyService).singleton(),
    identities: asFunction(createIdentityService).singleton(),
    secondSteps: asFunction(createSecondStepService).singleton(),
    closing: asFunction(createClosingService).singleton(),
    oidcSignIn: asFunction(createOidcSignIn).singleton(),
    workspaces: asFunction(createWorkspaceService).singleton(),
    keys: asFunction(createKeyService).singleton(),
    oauthRecords: asFunction(createOAuthRecords).singleton(),
    oauthPages: asFunction(createOAuthPages).singleton(),
    oauth: asFunction(createOAuth).singleton(),
    keyExchange: asFunction(createKeyExchange).singleton(),
    applications: asFunction(createApplicationService).singleton(),
    machines: asFunction(createMachineService).singleton(),
    tokens: asFunction(createTokenService).singleton(),
    connections: asFunction(createConnectionService).singleton(),
    claims: asFunction(createClaimService).singleton(),
    claimCounts: asFunction(createClaimCounts).singleton(),
    agents: asFunction(createAgentService).singleton(),
    receipts: asFunction(createReceiptService).singleton(),
    log: asFunction(createLogService).singleton(),
    erasure: asFunction(createErasureService).singleton(),
    retention: asFunction(createRetentionService).singleton(),
    sites: asFunction(createSiteService).singleton(),
    retentionWorker: asFunction(createRetentionWorker).singleton(),
    counters: asFunction(createCounters).singleton(),

    close: asValue(async () => {
      // A plugin that fails to close keeps nothing else open.
      await Promise.allSettled(registry.plugins.map(({ parts }) => parts.close()))
      await container.dispose()
      await clock.close()
      await storage.close()
    }),
  })

  return container.cradle
}

/** Storage whose transactions also queue the mails that tell of what they record. */
function withNotices(storage: Storage, notices: () => Notices): Storage {
  return {
    ...storage,
    write: (work) =>
      storage.write(async (tx) => {
        const result = await work(tx)
        await notices().queue(tx, tx.audit.entries())
        return result
      }),
  }
}

/** Closes the parts that are already open, and rethrows the error. */
function closing(...opened: readonly { close(): Promise<void> }[]) {
  return async (error: unknown): Promise<never> => {
    for (const part of opened) await part.close()
    throw error
  }
}
