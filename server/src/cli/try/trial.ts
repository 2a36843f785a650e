/** Makes one check of a claim with a plugin, on the same path as the service does: intake, check and verdict, without a database. */
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { isAbsolute } from 'node:path'
import { CommandError } from '@claimcheck/command-line/errors'
import { createMemoryRefreshes, secretNames } from '@claimcheck/core/hosting'
import { decide, type JsonObject, nextCheck } from '@claimcheck/core/rules'
import type { LogLine, TrialRequest } from '@claimcheck/core/testkit'
import type { Trial } from '@claimcheck/plugin-tools/try/trial'
import { ServiceError } from '../../base/errors.ts'
import { validator } from '../../base/validation.ts'
import type { HostConfig, PluginEntry } from '../../config/config.ts'
import { createCheckRunner } from '../../features/claims/check.ts'
import type { ClaimsConfig } from '../../features/claims/config.ts'
import { planClaim } from '../../features/claims/intake.ts'
import { claimReader } from '../../features/claims/wire.ts'
import type { WorkspacesConfig } from '../../features/workspaces/config.ts'
import type { OpenConnection } from '../../features/workspaces/connections.ts'
import { createSources } from '../../features/workspaces/sources.ts'
import { createOutbound } from '../../outbound/outbound.ts'
import { createRateLimitBudgets } from '../../outbound/rate-limit-budget.ts'
import { traced } from '../../outbound/trace.ts'
import { type HostLogger, loadPlugins } from '../../plugins/plugins.ts'
import type { Isolation, LoadedPlugin, RegisteredVerifier, Registry } from '../../plugins/registry.ts'

export interface TrialInput {
  readonly config: HostConfig & Pick<WorkspacesConfig, 'sources'> & Pick<ClaimsConfig, 'checks'>
  readonly plugin: PluginEntry
  readonly claim: JsonObject
  readonly connection: JsonObject | undefined
  /** The provider to read through, needed where an action is read through several. */
  readonly provider: string | undefined
}

const HOW: Readonly<Record<Isolation, string>> = {
  isolated: 'in a sandbox',
  open: 'in a process of its own, without a sandbox',
  trusted: 'in this process, trusted',
}

const CONNECTION_ID = 'conn_try'

/**
 * Makes one check of the claim, and decides it.
 * @throws PluginError, ServiceError, CommandError
 */
export async function makeTrial(input: TrialInput): Promise<Trial> {
  const { config } = input
  const log: LogLine[] = []
  const logger = collector(log)
  const now = Date.now
  const registry = await loadPlugins({ ...foldersFor(input), plugins: [input.plugin] }, { logger, now })
  const outbound = createOutbound(config)
  try {
    const claimInput = claimReader(registry.profiles())(input.claim)
    const registered = registry.verifierFor(claimInput.action) ?? refuseAction(claimInput.action, registry)
    const connection = openConnection(registered, registry, input)
    const sources = createSources({ config })
    const { claim } = await planClaim(
      { workspaceId: 'try', payer: 'try', submittedBy: 'try', speaksFor: 'any' },
      claimInput,
      now(),
      {
        registry,
        sources,
        connections: async () => (connection ? [connection] : []),
        closing: config.checks,
      },
    )
    if (claim.access === 'no_connection') refuseConnection(registered, registry, connection !== undefined)
    const requests: TrialRequest[] = []
    const refreshes = createMemoryRefreshes()
    const { check } = createCheckRunner({
      registry,
      sources,
      outbound: traced(outbound, requests),
      budgets: createRateLimitBudgets({ now }),
      connections: { openById: async () => connection, refreshesOf: () => refreshes },
      activity: { connectionRead() {} },
      clock: { heard() {}, turn: () => 0, setSince: () => 0 },
      now,
      config,
      logger: logger as never,
    })
    const record = await check(claim, [], 'deciding')
    const { profile } = registered.verifier
    const decision = decide(profile, claim, [record], record.answeredAt, config.checks)
    const nextCheckAt = decision ? undefined : nextCheck(profile, claim, [record], config.checks).at
    const secrets = secretsOf(registry, connection)
    const [{ identity, isolation }] = registry.plugins as [LoadedPlugin]
    const plugin = { ...identity, isolation, how: HOW[isolation] }
    return { plugin, profile, claim, record, decision, nextCheckAt, requests, log, secrets }
  } finally {
    await outbound.close()
    await Promise.all(registry.plugins.map(({ parts }) => parts.close()))
  }
}

/** Names the folders that no plugin may read: those of the configuration and the data. For an author's own folder there is no installation. */
function foldersFor({ config, plugin }: TrialInput): Pick<HostConfig, 'pluginDir' | 'dataDir'> {
  return isAbsolute(plugin.use) ? { pluginDir: tmpdir(), dataDir: tmpdir() } : config
}

/**
 * Checks the options of a connection.
 * @throws CommandError, ServiceError `invalid`
 */
function openConnection(
  { providers, verifier }: RegisteredVerifier,
  registry: Registry,
  { connection: options, provider: named }: TrialInput,
): OpenConnection | undefined {
  if (options === undefined) return undefined
  const provider = named ?? (providers.length === 1 ? providers[0] : undefined)
  if (provider === undefined || !providers.includes(provider)) {
    const list = providers.length === 0 ? 'no connection at all' : `connections of ${providers.join(', ')}`
    throw new CommandError('usage', `${verifier.profile.action} is read through ${list}: name one with --provider.`)
  }
  const type = registry.connectionType(provider)!
  const issues = validator(type.options)(options, ['options'])
  if (issues.length > 0) throw new ServiceError('invalid', `the options are not valid for ${provider}`, { issues })
  return { id: CONNECTION_ID, provider, options, publishesAddress: true, sourceKey: randomBytes(32) }
}

function secretsOf(registry: Registry, connection: OpenConnection | undefined): string[] {
  if (!connection) return []
  return secretNames(registry.connectionType(connection.provider)!)
    .map((name) => connection.options[name])
    .filter((value) => typeof value === 'string')
}

function refuseAction(action: string, registry: Registry): never {
  const offered = registry.profiles().map((profile) => profile.action)
  throw new CommandError(
    'usage',
    `The plugin does not verify ${action}. It verifies: ${offered.join(', ') || 'nothing'}.`,
  )
}

function refuseConnection({ providers, verifier }: RegisteredVerifier, registry: Registry, isGiven: boolean): never {
  const { action } = verifier.profile
  if (isGiven) {
    throw new CommandError(
      'not_connected',
      `No request was made: \`fits\` says that a claim of ${action} with this target does not mean this connection.`,
    )
  }
  const wanted = providers.map((provider) => {
    const type = registry.connectionType(provider)!
    const secrets = secretNames(type)
    const names = Object.keys(type.options.properties)
    return `  ${provider}: ${names.map((name) => (secrets.includes(name) ? `${name} (secret)` : name)).join(', ')}`
  })
  const lines = [
    `No request was made: ${action} is read through a connection. Give its options with --connection FILE:`,
    ...wanted,
  ]
  throw new CommandError('not_connected', lines.join('\n'))
}

/** Makes a logger that collects the lines of the plugin and the host, in order. */
function collector(log: LogLine[]): HostLogger & Pick<HostLogger, 'warn'> {
  const at = (level: string) => (fields: Readonly<Record<string, unknown>>, message: string) => {
    log.push({ level, message, fields })
  }
  const logger = { trace: at('trace'), debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  return { ...logger, child: () => ({ ...logger, child: () => logger }) } as HostLogger
}
