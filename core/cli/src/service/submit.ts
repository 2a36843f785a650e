/** Submits a claim, and waits for its verdict where that is asked for. */
import { type ClaimStatus, type NewClaim, TimeoutError } from '@claimcheck/client'
import { paintFor } from '../verify/style.ts'
import type { Access } from './access.ts'
import { claimLines, exitCodeOf } from './claim-words.ts'
import { asking, clientOf } from './client.ts'
import { untilSignal } from './until-signal.ts'

export interface Submitted {
  readonly status: ClaimStatus
  readonly exitCode: number
  readonly lines: readonly string[]
}

/** Submits a claim. @param waitMs milliseconds to wait for the verdict; undefined for none, Infinity until the claim is decided */
export async function submitClaim(access: Access, claim: NewClaim, waitMs: number | undefined): Promise<Submitted> {
  const client = clientOf(access)
  const submitted = await asking(client.submit(claim))
  const status = waitMs === undefined ? submitted : await waited(client, submitted, waitMs)
  const lines = claimLines(status, access.url, paintFor(process.stdout))
  const again = submitted.created ? [] : ['  it was submitted before, under the same id']
  return { status, exitCode: exitCodeOf(status), lines: [...lines, ...again] }
}

/** Waits for a claim. @returns its state when it is decided, the time is up, or the command is stopped */
async function waited(
  client: ReturnType<typeof clientOf>,
  submitted: ClaimStatus,
  waitMs: number,
): Promise<ClaimStatus> {
  let last = submitted
  await untilSignal(async (signal) => {
    const timeoutMs = Number.isFinite(waitMs) ? waitMs : undefined
    try {
      last = await asking(client.wait(submitted, { signal, timeoutMs }).catch(late))
    } catch (error) {
      if (!signal.aborted) throw error
    }
  })
  return last

  function late(error: unknown): ClaimStatus {
    // A claim that is not decided in time is reported as it was last seen.
    if (error instanceof TimeoutError) return error.claim ?? submitted
    throw error
  }
}
