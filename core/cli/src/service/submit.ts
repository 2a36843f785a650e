/** Submits a claim, and waits for its verdict where that is asked for. */
import { type ClaimStatus, type NewClaim, TimeoutError } from '@claimcheck/client'
import { CommandError } from '@claimcheck/command-line/errors'
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
  if (!submitted.created && isAnother(submitted, claim)) {
    const detail = `The id ${claim.client_claim_id} is that of another claim, ${submitted.claim_id}: take another id.`
    throw new CommandError('refused', detail)
  }
  const status = waitMs === undefined ? submitted : await waited(client, submitted, waitMs)
  const lines = claimLines(status, access.url, paintFor(process.stdout))
  const again = submitted.created ? [] : ['  it was submitted before, under the same id']
  return { status, exitCode: exitCodeOf(status), lines: [...lines, ...again] }
}

/** Tells whether an earlier claim of the same id is another one: an agent may have taken an id that it foresaw, for what it can get verified. */
function isAnother(earlier: ClaimStatus, claim: NewClaim): boolean {
  const isOtherAgent = claim.agent_id !== undefined && earlier.agent_id !== claim.agent_id
  return isOtherAgent || earlier.action !== claim.action || earlier.target !== claim.target
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
