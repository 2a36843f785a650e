/** Fills in what a caller may leave out of a claim. */
import type { ClaimRequest } from './wire.ts'

/** A claim as a program makes it. */
export interface NewClaim {
  /** What was done: `codehost.commit.push`. */
  readonly action: string
  /** Where it was done: `acme/api`. */
  readonly target: string
  /** What exactly, in the terms of the action. */
  readonly params?: Readonly<Record<string, unknown>> | undefined
  /** Who claims. That of the client when left out. */
  readonly agent_id?: string | undefined
  /** Now when left out. */
  readonly claimed_at?: string | Date | undefined
  readonly deadline_at?: string | Date | undefined
  /** A new one for each call when left out. Give it where a later run of the program may submit the same claim again. */
  readonly client_claim_id?: string | undefined
}

/** @throws TypeError without an agent */
export function claimRequest(claim: NewClaim, agentId: string | undefined): ClaimRequest {
  const { params, agent_id = agentId, deadline_at } = claim
  if (agent_id === undefined) throw new TypeError('agent_id is missing: give it to the claim, or agentId to the client')
  return {
    client_claim_id: claim.client_claim_id ?? crypto.randomUUID(),
    agent_id,
    action: claim.action,
    target: claim.target,
    ...(params === undefined ? {} : { params: params as NonNullable<ClaimRequest['params']> }),
    claimed_at: timestamp(claim.claimed_at ?? new Date()),
    ...(deadline_at === undefined ? {} : { deadline_at: timestamp(deadline_at) }),
  }
}

function timestamp(time: string | Date): string {
  return typeof time === 'string' ? time : time.toISOString()
}
