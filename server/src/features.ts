/** The features of the service, in the order in which they start: what a feature needs comes before it. */
import { anchoringFeature } from './features/anchoring/feature.ts'
import { auditTrailFeature } from './features/audit-trail/feature.ts'
import { claimsFeature } from './features/claims/feature.ts'
import { clockFeature } from './features/clock/feature.ts'
import { consoleFeature } from './features/console/feature.ts'
import { erasureFeature } from './features/erasure/feature.ts'
import { logFeature } from './features/log/feature.ts'
import { mailFeature } from './features/mail/feature.ts'
import { maintenanceFeature } from './features/maintenance/feature.ts'
import { mcpFeature } from './features/mcp/feature.ts'
import { monitoringFeature } from './features/monitoring/feature.ts'
import { oauthFeature } from './features/oauth/feature.ts'
import { peopleFeature } from './features/people/feature.ts'
import { receiptsFeature } from './features/receipts/feature.ts'
import { siteFeature } from './features/site/feature.ts'
import { workspacesFeature } from './features/workspaces/feature.ts'

export const FEATURES = [
  clockFeature,
  logFeature,
  auditTrailFeature,
  peopleFeature,
  workspacesFeature,
  receiptsFeature,
  claimsFeature,
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
