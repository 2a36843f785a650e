/** Follows claims until they are decided. */
import { TimeoutError } from './errors.ts'
import type { Listen } from './events.ts'
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
/** The time after which a check that was due has been made, as a rule. */
const CHECK_MS = 2000
const LATE = new Error('late')

export function idOf(claim: ClaimRef): string {
  return typeof claim === 'string' ? claim : claim.claim_id
}

/**
 * Yields each claim as it is now, and again whenever it changed, until all are decided. Where the service has a stream of events, a claim is read again
 * when it was decided, and after a check was due.
 * @throws TimeoutError when all others are decided, and one is still queued long after its deadline
 */
export async function* watchClaims(
  read: ReadClaim,
  claims: ClaimRef | readonly ClaimRef[],
  { signal }: CallOptions = {},
  listen?: Listen,
): AsyncGenerator<ClaimStatus, void, undefined> {
  const seen = new Map([claims].flat().map((claim) => [idOf(claim as ClaimRef), { text: '', readAt: 0 }]))
  const told = listen && listenForClaims(listen, seen, signal)
  let overdue: ClaimStatus | undefined
  let pauseMs = FIRST_PAUSE_MS

  /** Reads a claim. Returns its state if that changed. */
  async function change(claimId: string, watched: Watched): Promise<ClaimStatus | undefined> {
    watched.readAt = Number.POSITIVE_INFINITY
    const status = await read(claimId, { signal })
    // News that came during the read has set an earlier time.
    watched.readAt = Math.min(watched.readAt, checkedBy(status))
    if (isOverdue(status)) overdue ??= status
    if (isDecided(status) || isOverdue(status)) seen.delete(claimId)
    const text = JSON.stringify(status)
    if (text === watched.text) return undefined
    watched.text = text
    return status
  }

  try {
    while (seen.size > 0) {
      const due = [...seen].filter(([, { readAt }]) => !told?.isOpen || readAt <= Date.now())
      for (const [claimId, watched] of due) {
        const status = await change(claimId, watched)
        if (!status) continue
        pauseMs = FIRST_PAUSE_MS
        yield status
      }
      const pollMs = Math.max(pauseMs, seen.size * PAUSE_PER_CLAIM_MS)
      if (seen.size > 0) await (told ? told.pause(pollMs) : pause(pollMs, signal))
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    }
  } finally {
    told?.end()
  }
  if (!overdue) return
  const { claim_id: id, deadline_at } = overdue
  const problem = `claim ${id} is still queued, and its deadline was ${deadline_at}: the service does not decide it now`
  throw new TimeoutError(`${problem}. Ask its operator, or wait for it again later`, overdue)
}

/** The time at which the next check of a claim should have been made. */
function checkedBy({ next_check_at }: ClaimStatus): number {
  const dueInMs = next_check_at === null ? 0 : Date.parse(next_check_at) - Date.now()
  return Date.now() + Math.max(dueInMs, 0) + CHECK_MS
}

/** A claim that is watched: how it was last seen, and when to read it again. */
interface Watched {
  text: string
  readAt: number
}

/** Has claims read again as the service tells of them. Where it has no stream, or refuses one, they are read again and again. */
function listenForClaims(listen: Listen, seen: ReadonlyMap<string, Watched>, signal: AbortSignal | undefined) {
  const ending = new AbortController()
  let isOpen = false
  let wake = () => {}

  async function follow(): Promise<void> {
    for await (const event of listen({ type: 'claim.decided' }, { signal: ending.signal })) {
      isOpen = true
      // No stream tells of events that happened while none was open.
      const told = event.type === 'claim.decided' ? [seen.get(event.data.claim_id)] : seen.values()
      for (const watched of told) if (watched) watched.readAt = 0
      wake()
    }
  }
  function giveUp(): void {
    isOpen = false
    wake()
  }
  follow().then(giveUp, giveUp)

  return {
    /** True while the service tells of decided claims. */
    get isOpen() {
      return isOpen
    },
    /** Waits until a claim is to be read; without a stream for `pollMs`. @throws the signal's reason */
    async pause(pollMs: number): Promise<void> {
      const waiting = new AbortController()
      wake = () => waiting.abort()
      signal?.addEventListener('abort', wake, { once: true })
      const readAt = Math.min(...[...seen.values()].map((watched) => watched.readAt))
      await pause(isOpen ? Math.max(0, readAt - Date.now()) : pollMs, waiting.signal).catch(() => {})
      signal?.removeEventListener('abort', wake)
      signal?.throwIfAborted()
    },
    end: () => ending.abort(),
  }
}

export async function waitForClaim(
  read: ReadClaim,
  claim: ClaimRef,
  { signal, timeoutMs }: WaitOptions = {},
  listen?: Listen,
): Promise<DecidedClaim> {
  if (typeof claim === 'object' && isDecided(claim as ClaimStatus)) return claim as DecidedClaim
  const id = idOf(claim)
  const limited = timeoutMs === undefined ? { signal, end() {} } : limitedSignal(signal, timeoutMs, LATE)
  let last: ClaimStatus | undefined
  try {
    for await (const status of watchClaims(read, id, { signal: limited.signal }, listen)) last = status
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
