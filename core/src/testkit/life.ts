/** The whole life of a claim in virtual time: the checks that the schedule asks for, and what the rules make of them, while the place changes. */
import type { Plugin } from '../contract/plugin.ts'
import type { CheckRecord, Instant } from '../evidence.ts'
import { UNHEARD } from '../hosting/observation.ts'
import type { JsonObject } from '../json.ts'
import { decide } from '../rules/decide.ts'
import { freshnessOf, isClockBehind } from '../rules/freshness.ts'
import { nextCheck } from '../schedule.ts'
import { CLOSING, type Decision } from '../verdict.ts'
import { createCacheStore } from './check-cache.ts'
import type { KitClock } from './clock.ts'
import type { WholeAnswer } from './exchange.ts'
import type { AnswerMemory, StruckRequest } from './fault-proxy.ts'
import { type Outcome, openLane, thrownText } from './host.ts'
import type { ObservationProblem } from './observation.ts'
import type { GivenConnection, OrAt } from './options.ts'
import type { StruckSocket } from './socket-proxy.ts'
import { claimOf, type LogLine, logLine, type TrialClaim } from './trial.ts'
import { TrialError } from './trial-error.ts'
import { previousOf, recordOf, wrongIn } from './verdict-run.ts'

/** A clock that goes on only when it is moved, so that a life is the same on a busy machine. */
export interface VirtualClock {
  now(): Instant
  /** Moves the clock forward. An earlier moment changes nothing. */
  goTo(moment: Instant): void
}

export function createVirtualClock(start: Instant): VirtualClock {
  let now = start
  return {
    now: () => now,
    goTo(moment) {
      now = Math.max(now, moment)
    },
  }
}

export interface LifeOptions {
  readonly plugin: Plugin
  /** The plugin's options, as an operator's configuration gives them. */
  readonly options?: JsonObject
  /** The connection to read through; null to read without one. */
  readonly connection: OrAt<GivenConnection> | null
  /**
   * Address on loopback that requests go to, which tells times by `clock`: `http://127.0.0.1:4000`, or `tcp://127.0.0.1:4001` for connections of
   * another protocol. Defaults to the base address itself.
   */
  readonly destination?: string
  readonly claim: TrialClaim
  readonly submittedAt: Instant
  /** Milliseconds between the deed and the submission, as the client measured them. */
  readonly claimedAgoMs?: number
  readonly clock: VirtualClock
  /** Brings the place to what it is at a moment, by its clock: called before each check, and before each request is answered. */
  reach(until: Instant): Promise<void>
  /** Milliseconds that each answer takes. */
  readonly latencyMs?: number
  /** The moment of the first check, for a host that was down or flooded. */
  readonly idleUntil?: Instant
}

export interface LifeRequest {
  readonly at: Instant
  /** The name of the request, `GET /path?query`, or of an answer on a connection, `SOCKET 1, answer 2`. */
  readonly key: string
  /** The status of the answer; undefined if there was none, and on a connection. */
  readonly status: number | undefined
}

export interface Life {
  /** The checks as a host records them, oldest first. */
  readonly records: readonly CheckRecord[]
  /** The decision; undefined if the rules came to none, or the claim was refused. */
  readonly decision: Decision | undefined
  readonly decidedAt: Instant
  /** The claim's deadline; undefined if the claim was refused. */
  readonly deadlineAt: Instant | undefined
  readonly requests: readonly LifeRequest[]
  /** The error of a claim that its action does not allow, that the plugin refuses, or that the connection does not fit. */
  readonly refused?: TrialError
  /** The plugin's log, with what it threw. */
  readonly log: readonly LogLine[]
}

const USUAL_LATENCY_MS = 30
const MOST_CHECKS = 2000

export async function liveClaim(given: LifeOptions): Promise<Life> {
  const { plugin, options = {}, destination, submittedAt, clock, reach, latencyMs = USUAL_LATENCY_MS } = given
  const requests: LifeRequest[] = []
  const records: CheckRecord[] = []
  const log: LogLine[] = []
  const note = (check: string, problem: string) => {
    log.push({ level: 'warn', message: `the plugin ${problem}`, fields: { check } })
  }
  const kitClock: KitClock = { now: clock.now, set: clock.goTo, dated: (answer) => answer }
  const socketUrl = destination?.startsWith('tcp://') ? destination : undefined
  const proxy = { destination: socketUrl ? undefined : destination, elsewhere: '', clock: kitClock, memory: FORGETFUL }
  const lane = await openLane({ plugin, options, proxy, socketUrl, clock: kitClock, note })
  try {
    const verifier = lane.verifierFor(given.claim.action)
    if (!verifier) throw new TypeError(`the plugin does not verify ${given.claim.action}`)
    const { profile } = verifier
    const claim = { ...claimOf(verifier, given.claim), submittedAt }
    const { claimedAt, deadlineAt } = claim
    const dated = { claimedAt, submittedAt, claimedAgoMs: given.claimedAgoMs }
    if (isClockBehind(profile, dated)) throw new TrialError('invalid', 'the clock of the client is behind')
    const freshBy = freshnessOf(profile, dated)
    const times = { claimedAt, deadlineAt, submittedAt, freshBy }
    const store = createCacheStore()
    let identity: string | undefined
    const strike = { fault: answer }
    const socketStrike = { before: () => goTo(clock.now() + latencyMs / 2), fault: answerOnSocket }
    while (records.length < MOST_CHECKS) {
      const { at } = nextCheck(profile, times, records, CLOSING)
      await goTo(Math.max(at, submittedAt, given.idleUntil ?? 0, clock.now() + 1))
      const sentAt = clock.now()
      const previous = previousOf(records)
      const doing = { check: 'life' }
      const outcome = await lane.check({
        claim,
        connection: given.connection,
        previous,
        store,
        strike,
        socketStrike,
        doing,
        identity,
      })
      identity ??= outcome.observation?.identity
      records.push(recordOf(outcome, { profile, claim }, sentAt, clock.now()))
      log.push(
        ...outcome.logs.map(logLine),
        ...problemOf(outcome, wrongIn(outcome, { profile, claim }, sentAt, clock.now())),
      )
      const decision = decide(profile, times, records, clock.now())
      if (decision) return { records, decision, decidedAt: clock.now(), deadlineAt, requests, log }
    }
    return { records, decision: undefined, decidedAt: clock.now(), deadlineAt, requests, log }
  } catch (error) {
    if (!(error instanceof TrialError)) throw error
    const none = { decision: undefined, decidedAt: submittedAt, deadlineAt: undefined }
    return { records, ...none, requests, log, refused: error }
  } finally {
    await lane.close()
  }

  async function goTo(moment: Instant): Promise<void> {
    await reach(moment)
    clock.goTo(moment)
  }

  async function answer({ key, real, send }: StruckRequest): Promise<void> {
    const half = latencyMs / 2
    await goTo(clock.now() + half)
    const at = clock.now()
    let answer: WholeAnswer | undefined
    try {
      answer = await real()
      clock.goTo(clock.now() + half)
      send(answer)
    } finally {
      requests.push({ at, key, status: answer?.status })
    }
  }

  function answerOnSocket({ key, pass }: StruckSocket): void {
    clock.goTo(clock.now() + latencyMs / 2)
    requests.push({ at: clock.now(), key, status: undefined })
    pass()
  }
}

/** A memory that stores nothing: the place changes while it is read, so no answer is given twice. */
const FORGETFUL: AnswerMemory = new (class extends Map {
  override set() {
    return this
  }
})()

function problemOf({ observation, error, answers }: Outcome, wrong: ObservationProblem | undefined): LogLine[] {
  if (wrong && observation) return [{ level: 'error', message: 'the check failed', fields: { problem: wrong.problem } }]
  if (observation && answers === 0)
    return [{ level: 'error', message: 'the check was read nowhere', fields: { problem: UNHEARD } }]
  if (observation) return []
  return [{ level: 'error', message: 'the check could not read', fields: { problem: thrownText(error) } }]
}
