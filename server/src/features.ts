/** The features of the service, in the order in which they start: each comes after those that it needs. */
import { type HostConfig, readConfig } from './config/config.ts'
import type { Env } from './config/section.ts'
import { agentWatchFeature } from './features/agent-watch/feature.ts'
import { anchoringFeature } from './features/anchoring/feature.ts'
import { auditTrailFeature } from './features/audit-trail/feature.ts'
import { claimsFeature } from './features/claims/feature.ts'
import { clockFeature } from './features/clock/feature.ts'
import { consoleFeature } from './features/console/feature.ts'
import { erasureFeature } from './features/erasure/feature.ts'
import { eventStreamsFeature } from './features/event-streams/feature.ts'
import { eventsFeature } from './features/events/feature.ts'
import { hintsFeature } from './features/hints/feature.ts'
import { logFeature } from './features/log/feature.ts'
import { mailFeature } from './features/mail/feature.ts'
import { maintenanceFeature } from './features/maintenance/feature.ts'
import { mcpFeature } from './features/mcp/feature.ts'
import { monitoringFeature } from './features/monitoring/feature.ts'
import { oauthFeature } from './features/oauth/feature.ts'
import { peopleFeature } from './features/people/feature.ts'
import { pluginsFeature } from './features/plugins/feature.ts'
import { receiptsFeature } from './features/receipts/feature.ts'
import { revisitsFeature } from './features/revisits/feature.ts'
import { siteFeature } from './features/site/feature.ts'
import { webhooksFeature } from './features/webhooks/feature.ts'
import { workspacesFeature } from './features/workspaces/feature.ts'
import { schemaOfFeatures } from './host/composition.ts'
import type { Feature } from './host/feature.ts'
import type { ConfigOf } from './host/types.ts'

export const FEATURES = [
  clockFeature,
  logFeature,
  auditTrailFeature,
  peopleFeature,
  workspacesFeature,
  receiptsFeature,
  claimsFeature,
  eventsFeature,
  agentWatchFeature,
  eventStreamsFeature,
  webhooksFeature,
  hintsFeature,
  revisitsFeature,
  pluginsFeature,
  erasureFeature,
  anchoringFeature,
  mailFeature,
  consoleFeature,
  oauthFeature,
  mcpFeature,
  siteFeature,
  monitoringFeature,
  maintenanceFeature,
] as const

/** The schema of all that an installation stores. */
export const SCHEMA = schemaOfFeatures(FEATURES)

export type Config = HostConfig & ConfigOf<typeof FEATURES>

/** Reads the configuration from the environment and the file. @param more features beside these @throws ConfigError with every mistake */
export function loadConfig(env: Env, cwd: string, more: readonly Feature[] = []): Config {
  const features: readonly Feature[] = [...FEATURES, ...more]
  const sections = features.flatMap(({ config }) => config ?? [])
  return readConfig(sections, env, cwd)
}
