/** Fills in what a caller may leave out of a claim. */
import type { ClaimRequest } from './wire.ts'

/** A claim as a program makes it. */
export interface NewClaim {
  /** The kind of work, such as `codehost.commit.push`. */
  readonly action: string
  /** The place of the work, such as `acme/api`. */
  readonly target: string
  /** The details, in the terms of the action. */
  readonly params?: Readonly<Record<string, unknown>> | undefined
  /** The claiming agent. Defaults to the client's `agentId`. */
  readonly agent_id?: string | undefined
  /** The time of the claim. Defaults to now. */
  readonly claimed_at?: string | Date | undefined
  /**
   * The age of the work at this call, by a monotonic clock, in milliseconds. The client measures on until the request is sent. Defaults to 0 for a
   * claim of now, and to not known with `claimed_at`.
   */
  readonly claimed_ago_ms?: number | undefined
  readonly deadline_at?: string | Date | undefined
  /** The client's id of the claim. Defaults to a new one for each call. Give it where a later run of the program may submit the same claim again. */
  readonly client_claim_id?: string | undefined
}

/** The time of the claimed work, by the clock of `performance.now`. It is no part of the request, which another process may send. */
const doneAt = new WeakMap<object, number>()

/** Completes a request for sending at this moment. While a machine sleeps, only the clock behind `claimed_at` may go on. */
export function measured(request: ClaimRequest): ClaimRequest {
  const done = doneAt.get(request)
  if (done === undefined) return request
  const byDate = Date.now() - Date.parse(request.claimed_at) || 0
  return { ...request, claimed_ago_ms: Math.max(0, Math.round(Math.max(performance.now() - done, byDate))) }
}

/** Completes a claim to a request. @throws TypeError if neither the claim nor the client names an agent */
export function claimRequest(claim: NewClaim, agentId: string | undefined): ClaimRequest {
  const { params, agent_id = agentId, claimed_at, claimed_ago_ms, deadline_at } = claim
  if (agent_id === undefined) throw new TypeError('agent_id is missing: give it to the claim, or agentId to the client')
  const agoMs = claimed_at === undefined ? (claimed_ago_ms ?? 0) : claimed_ago_ms
  const done = doneAt.get(claim) ?? (agoMs === undefined ? undefined : performance.now() - agoMs)
  const request: ClaimRequest = {
    client_claim_id: claim.client_claim_id ?? crypto.randomUUID(),
    agent_id,
    action: claim.action,
    target: claim.target,
    params: params as ClaimRequest['params'],
    claimed_at: timestamp(claimed_at ?? new Date(Date.now() - (agoMs ?? 0))),
    deadline_at: deadline_at && timestamp(deadline_at),
  }
  if (done !== undefined) doneAt.set(request, done)
  return request
}

function timestamp(time: string | Date): string {
  return typeof time === 'string' ? time : time.toISOString()
}
