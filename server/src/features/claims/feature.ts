/** Claims: submitted, checked at the destination now and until the deadline, and decided. */

import type { ProfileList } from '@claimcheck/core/api'
import type { Worker } from '../../base/worker.ts'
import type { HostServices } from '../../host/container.ts'
import type { Feature } from '../../host/feature.ts'
import { idlePlugins } from '../../plugins/overview.ts'
import { checks, claims } from '../../storage/claim-row.ts'
import { eraseChecks, eraseClaims } from '../../storage/claims.ts'
import { profileSettings } from '../../storage/profile-settings.ts'
import { connections, workspaces } from '../../storage/workspaces.ts'
import type { Adjudication } from './adjudication.ts'
import type { Admission } from './admission.ts'
import type { ClaimService } from './claims.ts'
import { addActionCommand } from './commands/action.ts'
import { addPluginsCommand } from './commands/plugins.ts'
import { claimsConfig } from './config.ts'
import type { DueClaims } from './due-claims.ts'
import type { Lateness } from './lateness.ts'
import { claimMetrics } from './metrics.ts'
import { claimMigrations } from './migrations.ts'
import type { ProfileSettings } from './profile-settings.ts'

export interface Services extends Pick<HostServices, 'registry' | 'now' | 'storage' | 'clock'> {
  readonly claims: ClaimService
  readonly published: () => Promise<ProfileList>
  readonly profileSettings: ProfileSettings
  readonly adjudication: Adjudication
  readonly recheckWorker: Worker
  readonly admission: Admission
  readonly dueClaims: DueClaims
  readonly lateness: Lateness
}

export const claimsFeature = {
  name: 'claims',
  needs: ['workspaces', 'log', 'receipts'],
  stored: {
    tables: [
      { table: claims, refersTo: [workspaces, connections], erase: eraseClaims },
      { table: checks, owners: { claim_id: claims }, erase: eraseChecks },
      { table: profileSettings },
    ] as const,
    migrations: claimMigrations,
  },
  auditWords: {
    'claims.exported': 'exported claims',
  },
  config: claimsConfig,
  services: async () => (await import('./services.ts')).services,
  async prepare({ profileSettings, storage, clock }) {
    const { rememberClocks } = await import('./destination-clocks.ts')
    await profileSettings.prepare()
    await rememberClocks(storage, clock)
  },
  routes: async ({ claims, registry, published }) => {
    const [{ claimRoutes }, { profileRoutes }] = await Promise.all([
      import('./routes/claims.ts'),
      import('./profile-list.ts'),
    ])
    return [
      { scope: 'key', cost: 'read', add: (app) => claimRoutes(app, { claims, profiles: registry.profiles() }) },
      { scope: 'public', cost: 'file', add: (app) => profileRoutes(app, published) },
    ]
  },
  workers: ({ recheckWorker }) => [recheckWorker],
  idle: ({ adjudication }) => adjudication.idle(),
  metrics: claimMetrics,
  warnings: async ({ registry }) => idlePlugins(registry.plugins),
  commands(program, withServices) {
    addPluginsCommand(program, withServices)
    addActionCommand(program, withServices)
  },
} satisfies Feature<Services>
