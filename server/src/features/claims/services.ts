/** Functions that make the services of claims, which the host calls on first use. */

import { createAdjudication } from './adjudication.ts'
import { createAdmission } from './admission.ts'
import { createAgentService } from './agents.ts'
import { createAheadClocks } from './ahead-clocks.ts'
import { createCheckRunner } from './check.ts'
import { createClaimStatistics } from './claim-statistics.ts'
import { createClaimService } from './claims.ts'
import { createDecisions } from './decisions.ts'
import { createDueClaims } from './due-claims.ts'
import { createLateness } from './lateness.ts'
import { createProfileSettings, type ProfileSettings } from './profile-settings.ts'
import { createQuotas } from './quotas.ts'
import { createRecheckWorker } from './recheck-worker.ts'
import { createWatches } from './watches.ts'

export const services = {
  checkRunner: createCheckRunner,
  admission: createAdmission,
  lateness: createLateness,
  decisions: createDecisions,
  quotas: createQuotas,
  adjudication: createAdjudication,
  dueClaims: createDueClaims,
  recheckWorker: createRecheckWorker,
  watches: createWatches,
  aheadClocks: createAheadClocks,
  claims: createClaimService,
  claimStatistics: createClaimStatistics,
  agents: createAgentService,
  profileSettings: createProfileSettings,
  /** Makes the answer of `GET /v1/profiles`. */
  published: ({ profileSettings }: { readonly profileSettings: ProfileSettings }) => profileSettings.published,
}
