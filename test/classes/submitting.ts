/**
 * Submits claims to a service in this process, in which nothing else goes on, and says by the clock of V8's log when those began that
 * count. The ones before have had everything compiled.
 */
import type { ClaimInput, Submitter } from '@claimcheck/server/claims/intake'
import { Installation } from '../support/installation.ts'

const AT_A_TIME = 16
const BEFORE = 150
const COUNTED = 50

/** Sent when the claims are decided: how many they were, and when they began and ended, in ms since the process began. */
export interface Submitted {
  readonly claims: number
  readonly since: number
  readonly until: number
}

const installation = await Installation.start()
const { claimcheck } = installation
const { workspaceId } = await installation.client('acme')
const submitter: Submitter = { workspaceId, submittedBy: 'key_1', speaksFor: 'unbound' }
let claims = 0

async function submit(groups: number): Promise<void> {
  for (let group = 0; group < groups; group++) {
    await Promise.all(Array.from({ length: AT_A_TIME }, () => claimcheck.claims.submit(submitter, next())))
  }
}

function next(): ClaimInput {
  return {
    clientClaimId: `claim-${++claims}`,
    agentId: 'agent',
    action: 'test.outcome.reach',
    target: 'somewhere',
    params: { see: 'present' },
    claimedAt: Date.now(),
  }
}

await submit(BEFORE)
const since = performance.now()
await submit(COUNTED)
const submitted: Submitted = { claims: COUNTED * AT_A_TIME, since, until: performance.now() }
process.send!(submitted)
await installation.remove()
process.disconnect()
