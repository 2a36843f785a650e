/** Opens an installation: configuration, storage, plugins and the services of all features, each of which is made on first use. */

import type { Instant } from '@claimcheck/core/rules'
import { asFunction, asValue, createContainer, InjectionMode } from 'awilix'
import type { Logger } from 'pino'
import type { AuditWords } from '../base/audit-events.ts'
import { endInOrder } from '../base/ending.ts'
import { createMeters, type Meters } from '../base/meters.ts'
import { openSecrets, type Secrets } from '../base/secrets.ts'
import { NO_TRACING, type Tracing } from '../base/tracing.ts'
import { type Clock, openClock } from '../clock/clock.ts'
import { createOwnAddress, type OwnAddress } from '../config/address.ts'
import { ConfigError, type HostConfig } from '../config/config.ts'
import { type Counters, createCounters } from '../http/counters.ts'
import { createOutbound, type Outbound } from '../outbound/outbound.ts'
import { loadPlugins } from '../plugins/plugins.ts'
import type { Registry } from '../plugins/registry.ts'
import { openStorage } from '../storage/open.ts'
import type { OpenStorageOptions } from '../storage/pools.ts'
import type { Schema } from '../storage/schema.ts'
import type { Storage } from '../storage/storage.ts'
import { auditWordsOf, schemaOfFeatures } from './composition.ts'
import type { Factories, Feature } from './feature.ts'
import { openLogger } from './logger.ts'
import { createMetrics } from './metrics.ts'
import type { Metrics, Readiness } from './monitoring.ts'
import { createReadiness, createReadReadiness } from './readiness.ts'
import { openTracing } from './tracing.ts'

/** The services that the host itself gives to features. */
export interface HostServices {
  readonly config: HostConfig
  readonly logger: Logger
  readonly clock: Clock
  readonly now: () => Instant
  readonly storage: Storage
  readonly registry: Registry
  readonly secrets: Secrets
  readonly ownAddress: OwnAddress
  readonly outbound: Outbound
  readonly counters: Counters
  readonly readiness: () => Promise<Readiness>
  /** Tells whether reads work, whatever becomes of writes. */
  readonly readReadiness: () => Promise<Readiness>
  readonly meters: Meters
  readonly tracing: Tracing
  readonly metrics: Metrics
  readonly schema: Schema
  readonly auditWords: AuditWords
  /** The active features, which have routes and workers. */
  readonly features: readonly Feature[]
  readonly isActive: (feature: string) => boolean
  readonly close: () => Promise<void>
}

export interface OpenOptions extends Pick<OpenStorageOptions, 'asIs' | 'beforeStatement' | 'drivers'> {
  /** True to load all configured plugins; else only the one that signs, if any, for commands that use no destination. */
  readonly plugins: boolean
  /** The monotonic clock of this host. */
  readonly now?: () => Instant
  /** The system's clock; defaults to `now`, if that is given. */
  readonly wall?: () => Instant
  /** True to wait for a busy database without a time limit. */
  readonly patient?: boolean
}

/**
 * Opens an installation. @typeParam S the services of the host and of all features
 * @throws StorageError, PluginError
 */
export async function openInstallation<S extends HostServices>(
  features: readonly Feature[],
  config: HostConfig,
  { plugins, now: steady, wall = steady, beforeStatement, drivers, patient = false, asIs = false }: OpenOptions,
): Promise<S> {
  const { logger, flush } = openLogger(config)
  const active = activeOf(features, config.disabledFeatures)
  const schema = schemaOfFeatures(features)
  const tracing = plugins ? await openTracing(config) : NO_TRACING
  const storage = await openStorage(config, { schema, beforeStatement, drivers, patient, asIs })
  if (storage.lacking.length > 0) logger.warn({ lacking: storage.lacking }, 'the database lacks a part of its schema')
  const clocks = { ...(steady ? { steady } : {}), ...(wall ? { wall } : {}) }
  const clock = await openClock({ storage, logger, ...clocks }).catch(closing(storage))
  const { now } = clock
  // The plugin that signs is loaded for every command: any of them may sign.
  const loaded = plugins ? config : { ...config, plugins: [] }
  const registry = await loadPlugins(loaded, { logger, now }).catch(closing(clock, storage))

  const container = createContainer<HostServices>({ injectionMode: InjectionMode.PROXY, strict: true })
  const { cradle } = container
  const names = new Set(active.map(({ name }) => name))
  container.register({
    config: asValue(config),
    logger: asValue(logger),
    clock: asValue(clock),
    now: asValue(now),
    storage: asValue(withListeners(storage, features, cradle)),
    schema: asValue(schema),
    auditWords: asValue(auditWordsOf(features)),
    registry: asValue(registry),
    secrets: asFunction(() => openSecrets(config)).singleton(),
    ownAddress: asFunction(() => createOwnAddress(config)).singleton(),
    outbound: asFunction(() => createOutbound(config))
      .singleton()
      .disposer((outbound) => outbound.close()),
    counters: asFunction(createCounters).singleton(),
    readiness: asFunction(() => createReadiness(active, cradle)).singleton(),
    readReadiness: asFunction(() => createReadReadiness(cradle)).singleton(),
    tracing: asValue(tracing),
    meters: asFunction(createMeters).singleton(),
    metrics: asFunction(() => createMetrics(active, cradle)).singleton(),
    features: asValue(active),
    isActive: asValue((feature: string) => names.has(feature)),
    close: asValue(() =>
      endInOrder(
        // Processes of plugins would keep this one alive.
        () => Promise.allSettled(registry.plugins.map(({ parts }) => parts.close())),
        () => container.dispose(),
        clock.close,
        storage.close,
        tracing.close,
        flush,
      ),
    ),
  })
  for (const { services, closes = [] } of features) register(container, (await services?.()) ?? {}, closes)

  return cradle as S
}

function register(
  container: ReturnType<typeof createContainer<HostServices>>,
  factories: Factories,
  closes: readonly string[],
): void {
  for (const [name, make] of Object.entries(factories)) {
    if (container.hasRegistration(name)) throw new Error(`two features bring the service ${name}`)
    const service = asFunction(make).singleton()
    container.register(
      name,
      closes.includes(name) ? service.disposer((made) => (made as { close(): Promise<void> }).close()) : service,
    )
  }
}

/**
 * Leaves out disabled features, and those that need one of them.
 * @throws ConfigError
 */
function activeOf(features: readonly Feature[], disabled: readonly string[]): readonly Feature[] {
  const optional = features.filter(({ isOptional }) => isOptional).map(({ name }) => name)
  const unknown = disabled.filter((name) => !optional.includes(name))
  if (unknown.length > 0) {
    const problem = `disabled_features: ${unknown.join(', ')} cannot be disabled; ${optional.join(', ')} can`
    throw new ConfigError([problem])
  }
  const active: Feature[] = []
  for (const feature of features) {
    const { name, needs = [] } = feature
    const hasAll = needs.every((needed) => active.some((other) => other.name === needed))
    if (hasAll && !disabled.includes(name)) active.push(feature)
    else if (!feature.isOptional) throw new Error(`the feature ${name} needs ${needs.join(', ')} before it`)
  }
  return active
}

/** Lets the listeners of audit events join the transactions of a storage. */
function withListeners(storage: Storage, features: readonly Feature[], services: unknown): Storage {
  let listeners: NonNullable<ReturnType<NonNullable<Feature['onAudit']>>>[] | undefined
  return {
    ...storage,
    write: (work, options) =>
      storage.write(async (tx) => {
        listeners ??= features.flatMap(({ onAudit }) => onAudit?.(services) ?? [])
        const result = await work(tx)
        if (listeners.length > 0) for (const listen of listeners) await listen(tx, tx.audit.entries())
        return result
      }, options),
  }
}

/** Makes an error handler that closes the parts that are already open, and rethrows the error. */
function closing(...opened: readonly { close(): Promise<void> }[]) {
  return async (error: unknown): Promise<never> => {
    for (const part of opened) await part.close()
    throw error
  }
}
