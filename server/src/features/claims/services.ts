/** The services of claims. */
import { createAdjudication } from '../../claims/adjudication.ts'
import { createAdmission } from '../../claims/admission.ts'
import { createAgentService } from '../../claims/agents.ts'
import { createCheckRunner } from '../../claims/check.ts'
import { createClaimCounts } from '../../claims/claim-counts.ts'
import { createClaimService } from '../../claims/claims.ts'
import { createDueClaims } from '../../claims/due-claims.ts'
import { createLateness } from '../../claims/lateness.ts'
import { createQuotas } from '../../claims/quotas.ts'
import { createRecheckWorker } from '../../claims/recheck-worker.ts'
import type { HostServices } from '../../host/container.ts'
import { profileList } from './routes/profiles.ts'

export const services = {
  checkRunner: createCheckRunner,
  admission: createAdmission,
  lateness: createLateness,
  quotas: createQuotas,
  adjudication: createAdjudication,
  dueClaims: createDueClaims,
  recheckWorker: createRecheckWorker,
  claims: createClaimService,
  claimCounts: createClaimCounts,
  agents: createAgentService,
  /** The answer of `GET /v1/profiles`. */
  published: ({ registry, config }: Pick<HostServices, 'registry' | 'config'>) =>
    profileList(registry.allProfiles(), config.checks),
}
