/** The services of workspaces. */
import { createAllowances } from '../../outbound/allowances.ts'
import { createDestinations } from '../../outbound/destinations.ts'
import { createActivity } from '../../workspaces/activity.ts'
import { createConnectionService } from '../../workspaces/connections.ts'
import { createKeyService } from '../../workspaces/keys.ts'
import { createSiteService } from '../../workspaces/sites.ts'
import { createSources } from '../../workspaces/sources.ts'
import { createWorkspaceService } from '../../workspaces/workspaces.ts'

export const services = {
  workspaces: createWorkspaceService,
  keys: createKeyService,
  connections: createConnectionService,
  sites: createSiteService,
  sources: createSources,
  activity: createActivity,
  destinations: createDestinations,
  allowances: createAllowances,
}
