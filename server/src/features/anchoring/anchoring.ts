/** Anchoring: plans anchors of the log's root and advances the open one. At most one anchor is open at a time, over all hosts. */

import type { Instant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import { type Acting, byCommand } from '../../base/actor.ts'
import { AnchoringError, callAnchorer } from '../../plugins/anchorer-calls.ts'
import type { Registry } from '../../plugins/registry.ts'
import type { AnchoringProblem, AnchorRow } from '../../storage/anchor-row.ts'
import type { Reads, Storage, Writes } from '../../storage/storage.ts'
import type { LogGuard } from '../log/log-guard.ts'
import { type Advance, createAdvance } from './advance.ts'
import { hasUnanchoredEntries, isIntervalOver } from './rule.ts'

interface AnchoringParts {
  readonly registry: Pick<Registry, 'anchorer'>
  readonly storage: Storage
  readonly logGuard: Pick<LogGuard, 'check' | 'maySign'>
  readonly now: () => Instant
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'warn'>
}

const ANSWER_MS = 15_000

export type Anchoring = NonNullable<ReturnType<typeof createAnchoring>>

/** Makes the service of anchoring; undefined when no anchorer is configured. */
export function createAnchoring({ registry, storage, logGuard, now, logger }: AnchoringParts) {
  const { anchorer } = registry
  if (!anchorer) return undefined
  const { chain, scheme, intervalMs } = anchorer
  const advance = createAdvance({ anchorer, storage, logGuard, now, logger })
  let problem: AnchoringProblem | undefined

  /** Tells whether an anchor is due. Callers read this without a lock first, so that they lock the log only to plan an anchor. */
  async function isDue(rows: Pick<Reads, 'log' | 'anchors'>, atOnce: boolean): Promise<boolean> {
    const log = await rows.log.state()
    if (!log) return false
    const [newest, newestFinal] = [await rows.anchors.newest(log.logId), await rows.anchors.newestFinal(log.logId)]
    const anchored = { treeSize: log.treeSize, newest, newestFinal }
    return hasUnanchoredEntries(anchored) && (atOnce || isIntervalOver(anchored, now(), intervalMs))
  }

  /** Plans an anchor. Locks the log, so that one host plans at a time. */
  async function plan(tx: Writes, atOnce: boolean, by: Acting): Promise<AnchorRow | undefined> {
    const log = (await tx.log.lock())!
    const open = await tx.anchors.open()
    if (open) return open
    if (!(await isDue(tx, atOnce))) return undefined
    await logGuard.check(log, tx.log)
    const previous = await tx.anchors.newestFinalOn(chain, scheme, log.logId)
    const { logId, treeSize, rootHash } = log
    const details = { tree_size: treeSize, chain }
    if (atOnce) tx.audit.record({ event: 'anchor.forced', at: now(), by, subject: logId, details })
    return tx.anchors.insert({
      logId,
      treeSize,
      rootHash,
      previousId: previous?.id ?? null,
      chain,
      scheme,
      ...anchorer!.identity(),
      plannedAt: now(),
    })
  }

  return {
    anchorer,
    /** Tells whether `take` has an anchor to return. */
    isNeeded: async () => (await storage.read.anchors.open()) !== undefined || isDue(storage.read, false),
    /**
     * Returns the open anchor, or plans one of the newest root when that root is not anchored and the interval is over.
     * @param options.atOnce ignores the interval; the actor is recorded
     * @throws ServiceError `read_only` when this host may not sign
     */
    async take({ atOnce = false, by = byCommand() } = {}): Promise<AnchorRow | undefined> {
      const open = await storage.read.anchors.open()
      if (open || !(await isDue(storage.read, atOnce))) return open
      return storage.write((tx) => plan(tx, atOnce, by))
    },
    /**
     * Advances the anchor by one step.
     * @throws ServiceError `read_only` when the step must sign or send, and this host may not; StorageError; the reason of an aborted signal
     */
    async advance(anchor: AnchorRow, signal: AbortSignal): Promise<Advance> {
      const advanced = await advance(anchor, signal)
      problem = advanced.outcome === 'blocked' ? advanced.problem : undefined
      return advanced
    },
    /** Asks the anchorer whether it reaches the right chain; logs a mistake, which becomes the `problem`. @throws the signal's reason */
    async examine(signal: AbortSignal): Promise<void> {
      try {
        await callAnchorer((limit) => anchorer.account(limit), { signal, limitMs: ANSWER_MS })
        problem = undefined
      } catch (error) {
        if (!(error instanceof AnchoringError)) throw error
        problem = error.problem
        logger.warn({ chain, problem, reason: error.message }, 'cannot anchor on the chain')
      }
    },
    /** The problem of this host's last attempt to use the chain; undefined when it succeeded. */
    problem: () => problem,
  }
}
