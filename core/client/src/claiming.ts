/** Runs a program's work, then claims that the work was done. */
import type { NewClaim } from './claim-request.ts'
import type { Client } from './client.ts'
import { NotClaimedError } from './errors.ts'
import type { WaitOptions } from './watch.ts'
import type { ClaimStatus, DecidedClaim, SubmittedClaim } from './wire.ts'

/** A claim of which each member may be a function of what the work returned. */
export type ClaimOf<Result> = {
  readonly [Name in keyof NewClaim]: NewClaim[Name] | ((result: Result) => NewClaim[Name])
}

export interface Claimed<Result, Claim extends ClaimStatus> {
  /** The value that the work returned. */
  readonly result: Result
  readonly claim: Claim
}

export interface ClaimingOptions extends WaitOptions {
  /** Tells whether to wait until the claim is decided. */
  readonly wait?: boolean | undefined
}

/**
 * Claims that the work was done when it ended. Work that throws claims nothing, and its error goes to the caller.
 *
 * @throws NotClaimedError with the result of the work and the claim, when the work is done and the claim could not be submitted
 */
export async function claiming<Result>(
  client: Client,
  claim: ClaimOf<NoInfer<Result>>,
  work: () => Result | Promise<Result>,
  options: ClaimingOptions & { readonly wait: true },
): Promise<Claimed<Result, DecidedClaim>>
export async function claiming<Result>(
  client: Client,
  claim: ClaimOf<NoInfer<Result>>,
  work: () => Result | Promise<Result>,
  options?: ClaimingOptions,
): Promise<Claimed<Result, SubmittedClaim | DecidedClaim>>
export async function claiming<Result>(
  client: Client,
  claim: ClaimOf<NoInfer<Result>>,
  work: () => Result | Promise<Result>,
  { wait = false, ...options }: ClaimingOptions = {},
): Promise<Claimed<Result, SubmittedClaim | DecidedClaim>> {
  const result = await work()
  const members = Object.entries(claim).map(([name, value]) => [
    name,
    typeof value === 'function' ? value(result) : value,
  ])
  const request = client.prepare(Object.fromEntries(members) as unknown as NewClaim)
  const submitted = await client.submit(request, options).catch((error: unknown) => {
    throw new NotClaimedError(result, request, error)
  })
  return { result, claim: wait ? await client.wait(submitted, options) : submitted }
}
