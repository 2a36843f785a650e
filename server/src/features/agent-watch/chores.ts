/** The worker that looks for agents that fell silent or whose rate jumped, on one host at a time: nothing of it is on the way of a claim. */
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import { createLoop, type Worker } from '../../base/worker.ts'
import type { Clock } from '../../clock/clock.ts'
import { createLease } from '../../host/lease.ts'
import type { SilenceWatchRow } from '../../storage/agent-watches.ts'
import type { ClaimScope } from '../../storage/claim-query.ts'
import type { AgentCount } from '../../storage/claims.ts'
import type { Storage } from '../../storage/storage.ts'
import { MOST_EXAMINED } from '../claims/claim-choice.ts'
import type { LogGuard } from '../log/log-guard.ts'
import { hasJumped, type Judged, mayHaveJumped } from './rate-jump.ts'
import { HOUR_MS } from './silence.ts'

interface ChoresParts {
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly clock: Pick<Clock, 'doubt'>
  readonly logGuard: Pick<LogGuard, 'maySign'>
  readonly now: () => Instant
  readonly logger: Pick<FastifyBaseLogger, 'error'>
}

const DAY_MS = 24 * HOUR_MS
const FIRST_MS = 90_000
const PAUSE_MS = 10 * 60_000
/** The time between two looks at the rates. */
const RATES_EVERY_MS = HOUR_MS
/** The claims whose agents one statement looks at are those of so much time. */
const SLICE_MS = 60_000
/** The days before the last one with which it is compared. */
const DAYS_BEFORE = 28
/** The most agents of a workspace whose weeks are read, those with the most claims against them. */
const MOST_SUSPECTS = 50

export function createAgentWatchChores({ storage, clock, logGuard, now, logger }: ChoresParts) {
  const { read } = storage
  const lease = createLease('agent-watch', { storage })
  let ratedAt = Number.NEGATIVE_INFINITY

  /** Tells of the agents whose last claim is as old as the workspace says since the last look. Each claim comes to that age once. */
  async function tellSilent(watch: SilenceWatchRow, stopping: AbortSignal): Promise<void> {
    const { workspaceId, hours, agents } = watch
    const end = now() - hours * HOUR_MS
    let reached = watch.reached
    for (let since = reached; since < end; since += SLICE_MS) {
      stopping.throwIfAborted()
      const until = Math.min(since + SLICE_MS, end)
      const last = await read.claims.agents({ workspaceId, since, until, limit: MOST_EXAMINED })
      const silent = last.filter(({ agentId }) => agents.length === 0 || agents.includes(agentId))
      if (silent.length === 0 && until < end) continue
      const isOurs = await storage.write(async (tx) => {
        if (!(await tx.agentWatch.reach({ ...watch, reached }, until))) return false
        const about = { workspaceId, type: 'agent.silent', at: now(), detail: String(hours) } as const
        for (const { claimId } of silent) tx.events.record({ ...about, subject: claimId })
        return true
      })
      if (!isOurs) return
      reached = until
    }
  }

  /** Narrows a scope to its newest claims: so many as may be read at a time. */
  async function bounded(scope: ClaimScope): Promise<ClaimScope> {
    const from = await read.claims.position(scope, MOST_EXAMINED)
    return from ? { ...scope, from } : scope
  }

  async function tellJumps(workspaceId: string): Promise<void> {
    const at = now()
    const counts = await read.claims.countsByAgent(await bounded({ workspaceId, since: at - DAY_MS, until: at }))
    const suspects = judgedOf(counts)
      .filter(mayHaveJumped)
      .toSorted((one, other) => other.blamed - one.blamed)
      .slice(0, MOST_SUSPECTS)
    if (suspects.length === 0) return
    const told = await read.agentWatch.jumpedSince(workspaceId, at - DAY_MS)
    for (const { agentId, newest, ...day } of suspects.filter((one) => !told.has(one.agentId))) {
      const since = at - (DAYS_BEFORE + 1) * DAY_MS
      const weeks = await bounded({ workspaceId, agentId, since, until: at - DAY_MS })
      const [before = { judged: 0, blamed: 0 }] = judgedOf(await read.claims.countsByAgent(weeks))
      if (!hasJumped(day, before)) continue
      const detail = [day.blamed, day.judged, before.blamed, before.judged].join(' ')
      await storage.write(async (tx) => {
        await tx.agentWatch.noteJump(newest, at, at - DAY_MS)
        tx.events.record({ workspaceId, type: 'rate.jumped', at, subject: newest, detail })
      })
    }
  }

  async function look(stopping: AbortSignal): Promise<void> {
    for (const watch of await read.agentWatch.silences()) await tellSilent(watch, stopping)
    if (now() - ratedAt < RATES_EVERY_MS) return
    for (const workspaceId of await read.events.workspaces()) {
      stopping.throwIfAborted()
      await tellJumps(workspaceId)
    }
    ratedAt = now()
  }

  async function round(stopping: AbortSignal): Promise<number> {
    try {
      // By a wrong clock, or on an old database, it would tell what is not so.
      if (clock.doubt() !== undefined || !(await logGuard.maySign())) return PAUSE_MS
      await lease.hold((lost) => look(AbortSignal.any([stopping, lost])))
    } catch (error) {
      if (!stopping.aborted) logger.error({ err: error }, 'agents are not watched for now')
    }
    return PAUSE_MS
  }
  const loop: Worker = createLoop(round, { firstMs: FIRST_MS, end: () => lease.release().catch(() => {}) })
  return { ...loop, round }
}

/** Sums the judged claims of each agent, with the newest one against it. */
function judgedOf(counts: readonly AgentCount[]) {
  const found = new Map<string, Judged & { readonly agentId: string; readonly newest: string }>()
  for (const { agentId, verdict, count, newest } of counts) {
    // Erased claims name no agent.
    if (agentId === '' || verdict === null || verdict === 'unverifiable') continue
    const before = found.get(agentId) ?? { agentId, judged: 0, blamed: 0, newest: '' }
    const isBlamed = verdict !== 'verified'
    found.set(agentId, {
      agentId,
      judged: before.judged + count,
      blamed: before.blamed + (isBlamed ? count : 0),
      newest: isBlamed && newest > before.newest ? newest : before.newest,
    })
  }
  return [...found.values()]
}
