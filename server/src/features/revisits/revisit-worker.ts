/**
 * The worker that looks at decided claims again. Every host runs one; each revisit is handed to one host at a time. Its looks take the part of the
 * budgets that looks on hints have, so that claims that wait go first.
 */
import { setTimeout } from 'node:timers/promises'
import { evidenceText, type FindingContent } from '@claimcheck/core/receipts'
import {
  type CheckRecord,
  type Instant,
  isRead,
  nextCheck,
  REVISIT_RESULTS,
  type RevisitCase,
  type RevisitFinding,
  revisitCase,
  revisitFinding,
  witnessed,
  witnessesOf,
} from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import type { Meters } from '../../base/meters.ts'
import { createLoop, type Worker } from '../../base/worker.ts'
import type { Clock } from '../../clock/clock.ts'
import type { Counters } from '../../http/counters.ts'
import type { Registry } from '../../plugins/registry.ts'
import { type ClaimRow, isErased } from '../../storage/claim-row.ts'
import { laneOf } from '../../storage/claims.ts'
import type { RevisitRow } from '../../storage/revisits.ts'
import type { Storage } from '../../storage/storage.ts'
import type { Admission } from '../claims/admission.ts'
import { type CheckRunner, HINT_MARGIN_MS } from '../claims/check.ts'
import type { ClaimsConfig } from '../claims/config.ts'
import { judgeOf } from '../claims/destination.ts'
import type { LogGuard } from '../log/log-guard.ts'
import type { FindingLog } from './finding-log.ts'
import { DAY_MS, type Revisits } from './revisits.ts'

interface RevisitWorkerOptions {
  readonly storage: Storage
  readonly revisits: Pick<Revisits, 'onAsked'>
  readonly findingLog: FindingLog
  readonly registry: Registry
  readonly checkRunner: CheckRunner
  readonly admission: Pick<Admission, 'enter'>
  readonly logGuard: Pick<LogGuard, 'maySign'>
  readonly clock: Pick<Clock, 'doubt' | 'turn'>
  readonly counters: Counters
  readonly meters: Meters
  readonly now: () => Instant
  readonly config: Pick<ClaimsConfig, 'checks'>
  readonly logger: Pick<FastifyBaseLogger, 'error'>
}

const PAUSE_MS = 1000
const LOOKS_AT_ONCE = 8
/** The time for which a host has its revisits, longer than a look and its witnesses take. */
const LEASE_MS = 240_000
/** The time between two witnesses, a little more than the time by which reads are apart. */
const WITNESS_GAP_MS = 2100
/** The time after which a look is tried again for which there was no slot or budget, and a revisit that could not begin. */
const AGAIN_MS = { look: 5000, begin: 60_000 } as const
/** The most revisits of one workspace that begin in a minute. */
const MOST_A_MINUTE = 20
/** The time after which a revisit ends that could not begin, or could not go on: longer than one takes with the oldest answers. */
const STALE_MS = 2 * DAY_MS

/** A revisit with its claim, and the question that its looks answer. */
interface Revisit {
  readonly row: RevisitRow
  readonly claim: ClaimRow
  readonly asked: RevisitCase
}

export function createRevisitWorker(parts: RevisitWorkerOptions): Worker {
  const { storage, revisits, findingLog, registry, checkRunner, admission, logGuard, clock, counters, now, logger } =
    parts
  const { checks: settings } = parts.config
  const { inc } = parts.meters.counterOf(
    'revisits_total',
    'Looks at decided claims, by result',
    'result',
    REVISIT_RESULTS,
  )
  const running = new Set<Promise<void>>()

  /** Makes a check of a claim with these times and this history; undefined when the clock changed meanwhile, or there is no room for it. */
  async function check(claim: ClaimRow, history: readonly CheckRecord[]): Promise<CheckRecord | undefined> {
    const { claimId, target, deadlineAt } = claim
    const entry = admission.enter({ claimId, target, lane: laneOf(claim), deadlineAt }, 'hinted')
    if (!entry) return undefined
    const turn = clock.turn()
    let record: CheckRecord | undefined
    try {
      const nextCheckAt = now() + settings.timeoutMs + HINT_MARGIN_MS
      record = await checkRunner.check({ ...claim, nextCheckAt }, history, entry.kind)
    } finally {
      entry.end(record)
    }
    return clock.turn() === turn ? record : undefined
  }

  function findingOf({ row: { looks }, asked }: Revisit): RevisitFinding | undefined {
    return revisitFinding(asked, looks, looks.at(-1)?.answeredAt ?? 0, settings)
  }

  function postpone(row: RevisitRow, ms: number): Promise<void> {
    return storage.write((tx) => tx.revisits.postpone(row, now() + ms))
  }

  async function end(row: RevisitRow, { result, basis }: RevisitFinding): Promise<void> {
    const seenAt = isRead(basis) ? basis.answeredAt : null
    await storage.write((tx) => tx.revisits.end(row.revisitId, { result, endedAt: now(), seenAt }))
    inc(result)
  }

  /** Ends a revisit of which no look can be made. */
  function giveUp(row: RevisitRow): Promise<void> {
    const at = now()
    return end(row, {
      result: 'cannot_be_told',
      basis: { sentAt: at, answeredAt: at, failure: { code: 'verifier_error' } },
    })
  }

  /** Makes checks of a claim as it was submitted, apart from each other; undefined where one was not made. */
  async function witnesses(claim: ClaimRow, own: readonly CheckRecord[], count: number) {
    const made: CheckRecord[] = []
    while (made.length < count) {
      if (made.length > 0) await setTimeout(WITNESS_GAP_MS)
      const witness = await check(claim, [...own, ...made])
      if (!witness) return undefined
      made.push(witness)
    }
    return made
  }

  /**
   * Tells whether the claim's connection has other credentials, or another identity, than when the claim was submitted: they may show another place, or
   * another view of it.
   */
  async function hasOtherConnection({ connectionId, workspaceId, submittedAt }: ClaimRow): Promise<boolean> {
    if (connectionId === null) return false
    const connection = await storage.read.connections.activeById(connectionId)
    if (connection?.identity != null && connection.identity.since > submittedAt) return true
    const replaced = { scope: { workspaceId }, events: ['connection.credentials_replaced'], search: connectionId }
    const page = { order: 'newest first', limit: 1 } as const
    return (await storage.read.audit.list({ ...replaced, since: submittedAt }, page)).length > 0
  }

  async function conclude({ row, claim, asked }: Revisit, found: RevisitFinding): Promise<void> {
    const own = await storage.read.claims.history(claim.claimId)
    const made = await witnesses(claim, own, witnessesOf(found))
    if (!made) return postpone(row, AGAIN_MS.look)
    // The connection may have changed between two looks.
    if (await hasOtherConnection(claim)) return giveUp(row)
    const finding = witnessed(found, asked, own, made)
    if (finding.result !== 'changed') return end(row, finding)
    const { looks } = row
    const profile = { action: claim.profileAction, version: claim.profileVersion }
    const question = { ...asked.claim, claimDigest: claim.claimDigest }
    const decidedAt = looks.at(-1)!.answeredAt
    const evidence = evidenceText(
      { profile, rules: asked.rules, closing: settings, claim: question, checks: looks, decidedAt },
      finding,
    )
    if (await findingLog.append(row, contentOf({ row, claim, asked }, finding), evidence, made.at(-1)!.answeredAt))
      inc('changed')
  }

  /** Makes the next look of a revisit. @returns the revisit with it; undefined where it was not made or not stored */
  async function look({ row, claim, asked }: Revisit): Promise<Revisit | undefined> {
    const beganAt = asked.claim.submittedAt
    const record = await check({ ...claim, ...asked.claim }, row.looks)
    if (!record) {
      await postpone(row, row.lookCount === 0 ? AGAIN_MS.begin : AGAIN_MS.look)
      return undefined
    }
    const looks = [...row.looks, record]
    const after = { row: { ...row, beganAt, looks, lookCount: looks.length }, claim, asked }
    const dueAt = findingOf(after) ? now() + LEASE_MS : nextCheck(asked.rules, asked.claim, looks, settings, false).at
    return (await storage.write((tx) => tx.revisits.looked(row, beganAt, looks, dueAt))) ? after : undefined
  }

  /** Tells whether a revisit may go on now. Puts one off that may not, and ends one that could not for long. */
  async function mayGoOn(row: RevisitRow, hasRules: boolean): Promise<boolean> {
    const at = now()
    if (at - (row.beganAt ?? row.askedAt) > STALE_MS) {
      await giveUp(row)
      return false
    }
    const isBegun = row.lookCount > 0
    if (hasRules && (isBegun || (await counters.add('revisits', row.workspaceId)).count <= MOST_A_MINUTE)) return true
    await postpone(row, AGAIN_MS.begin)
    return false
  }

  async function advance(row: RevisitRow): Promise<void> {
    const [claim] = await storage.read.claims.byIds([row.claimId])
    // This host may have read the row just before an erasure removed it.
    if (!claim || isErased(claim)) return
    if (await hasOtherConnection(claim)) return giveUp(row)
    const rules = judgeOf(registry, claim)?.verifier.profile
    if (!(await mayGoOn(row, rules !== undefined)) || !rules) return
    const begun = { row, claim, asked: revisitCase(rules, claim, row.beganAt ?? now()) }
    // The looks of a host that ended before it could conclude are not made again.
    const revisit = findingOf(begun) ? begun : await look(begun)
    const finding = revisit && findingOf(revisit)
    if (finding) await conclude(revisit, finding)
  }

  /** Starts as many due revisits as there is room for. */
  async function takeDue(): Promise<void> {
    const at = now()
    const room = LOOKS_AT_ONCE - running.size
    if (room <= 0 || !(await storage.read.revisits.anyDue(at))) return
    const rows = await storage.write((tx) => tx.revisits.lease(at, at + LEASE_MS, room))
    for (const row of rows) {
      const advancing = advance(row)
        .catch((error) => logger.error({ err: error, claimId: row.claimId }, 'a look at a decided claim failed'))
        .finally(() => running.delete(advancing))
      running.add(advancing)
    }
  }

  const loop = createLoop(async () => {
    try {
      // By a wrong time nothing is read, and a read-only host stores nothing.
      if (clock.doubt() !== undefined || !(await logGuard.maySign())) return PAUSE_MS
      await takeDue()
    } catch (error) {
      logger.error({ err: error }, 'cannot take revisits: they wait')
    }
    return PAUSE_MS
  })
  return {
    start() {
      revisits.onAsked(loop.wake)
      loop.start()
    },
    async stop() {
      await loop.stop()
      await Promise.all(running)
    },
  }
}

function contentOf({ row, claim, asked }: Revisit, { basis }: RevisitFinding): Omit<FindingContent, 'evidenceDigest'> {
  const { plugin } = basis
  const isAbsent = isRead(basis) && basis.observation.kind === 'absent'
  return {
    receiptId: claim.receiptId!,
    change: isAbsent ? 'absent' : 'differs',
    beganAt: asked.claim.submittedAt,
    observedAt: basis.answeredAt,
    looks: row.lookCount,
    verifier: {
      ...(plugin?.codeHash !== undefined && { code_hash: plugin.codeHash }),
      id: claim.profileAction,
      ...(plugin && { package: plugin.package }),
      ...(plugin?.version !== undefined && { package_version: plugin.version }),
      version: claim.profileVersion,
    },
  }
}
