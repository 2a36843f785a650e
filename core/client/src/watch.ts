/** Follows claims until they are decided. */
import { TimeoutError } from './errors.ts'
import { pause } from './retry.ts'
import { limitedSignal } from './timer.ts'
import type { CallOptions } from './transport.ts'
import type { ClaimStatus, DecidedClaim } from './wire.ts'

/** A claim, or its id. */
export type ClaimRef = string | { readonly claim_id: string }

export interface WaitOptions extends CallOptions {
  /**
   * Limits the wait, in milliseconds, and throws a TimeoutError at its end. By default the wait lasts until the claim is decided, which may be at its
   * deadline.
   */
  readonly timeoutMs?: number | undefined
}

type ReadClaim = (claimId: string, options: CallOptions) => Promise<ClaimStatus>

const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 2000
/** The least pause for each watched claim: the service limits the requests of a key in a minute. */
const PAUSE_PER_CLAIM_MS = 150
/** The time after its deadline by which a claim is decided, even if the service was away meanwhile. */
const OVERDUE_MS = 3_600_000
const LATE = new Error('late')

export function idOf(claim: ClaimRef): string {
  return typeof claim === 'string' ? claim : claim.claim_id
}

/**
 * Yields each claim as it is now, and again whenever it changed, until all are decided.
 * @throws TimeoutError when all others are decided, and one is still queued long after its deadline
 */
export async function* watchClaims(
  read: ReadClaim,
  claims: ClaimRef | readonly ClaimRef[],
  { signal }: CallOptions = {},
): AsyncGenerator<ClaimStatus, void, undefined> {
  const seen = new Map([claims].flat().map((claim) => [idOf(claim as ClaimRef), '']))
  let overdue: ClaimStatus | undefined
  let pauseMs = FIRST_PAUSE_MS
  while (seen.size > 0) {
    for (const [claimId, before] of seen) {
      const status = await read(claimId, { signal })
      const now = JSON.stringify(status)
      if (isOverdue(status)) overdue ??= status
      if (isDecided(status) || isOverdue(status)) seen.delete(claimId)
      else seen.set(claimId, now)
      if (now === before) continue
      pauseMs = FIRST_PAUSE_MS
      yield status
    }
    if (seen.size > 0) await pause(Math.max(pauseMs, seen.size * PAUSE_PER_CLAIM_MS), signal)
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
  }
  if (!overdue) return
  const { claim_id: id, deadline_at } = overdue
  const problem = `claim ${id} is still queued, and its deadline was ${deadline_at}: the service does not decide it now`
  throw new TimeoutError(`${problem}. Ask its operator, or wait for it again later`, overdue)
}

export async function waitForClaim(
  read: ReadClaim,
  claim: ClaimRef,
  { signal, timeoutMs }: WaitOptions = {},
): Promise<DecidedClaim> {
  if (typeof claim === 'object' && isDecided(claim as ClaimStatus)) return claim as DecidedClaim
  const id = idOf(claim)
  const limited = timeoutMs === undefined ? { signal, end() {} } : limitedSignal(signal, timeoutMs, LATE)
  let last: ClaimStatus | undefined
  try {
    for await (const status of watchClaims(read, id, { signal: limited.signal })) last = status
  } catch (error) {
    if (error !== LATE) throw error
    throw new TimeoutError(
      `claim ${id} is not decided after ${timeoutMs} ms; its checks go on: wait for it again`,
      last,
    )
  } finally {
    limited.end()
  }
  return last as DecidedClaim
}

function isDecided(claim: ClaimStatus): boolean {
  return claim.state === 'decided'
}

function isOverdue(claim: ClaimStatus): boolean {
  return !isDecided(claim) && Date.now() - Date.parse(claim.deadline_at) > OVERDUE_MS
}
