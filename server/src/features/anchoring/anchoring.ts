/** Anchoring: plans anchors of the log's root and advances the open one. At most one anchor is open at a time, over all hosts. */

import type { Anchorer } from '@claimcheck/core/plugin'
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import { type Acting, byCommand } from '../../base/actor.ts'
import { AnchoringError, callAnchorer } from '../../plugins/anchorer-calls.ts'
import type { Registry } from '../../plugins/registry.ts'
import type { AnchoringProblem, AnchorRow } from '../../storage/anchor-row.ts'
import type { Reads, Storage, Writes } from '../../storage/storage.ts'
import type { LogGuard } from '../log/log-guard.ts'
import { type Advance, Advancer } from './advance.ts'
import { hasUnanchoredEntries, isIntervalOver } from './rule.ts'

export interface Anchoring {
  readonly anchorer: Anchorer
  /** True when `take` has an anchor to return. */
  isNeeded(): Promise<boolean>
  /**
   * Returns the open anchor, or plans one of the newest root when that root is not anchored and the interval is over.
   * @param options.atOnce ignore the interval; who asks for it is recorded
   * @throws ServiceError `read_only` when this host may not sign
   */
  take(options?: { readonly atOnce?: boolean; readonly by?: Acting }): Promise<AnchorRow | undefined>
  /**
   * Advances the anchor by one step.
   * @throws ServiceError `read_only` when the step must sign or send, and this host may not; StorageError; the reason of an aborted signal
   */
  advance(anchor: AnchorRow, signal: AbortSignal): Promise<Advance>
  /** Asks the anchorer whether it reaches the right chain; logs a mistake, which becomes the `problem`. @throws the signal's reason */
  examine(signal: AbortSignal): Promise<void>
  /** The problem of this host's last attempt to use the chain; undefined when it succeeded. */
  problem(): AnchoringProblem | undefined
}

interface AnchoringOptions {
  readonly registry: Pick<Registry, 'anchorer'>
  readonly storage: Storage
  readonly logGuard: Pick<LogGuard, 'check' | 'maySign'>
  readonly now: () => Instant
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'warn'>
}

const ANSWER_MS = 15_000

/** Undefined when no anchorer is configured. */
export function createAnchoring({
  registry: { anchorer },
  storage,
  logGuard,
  now,
  logger,
}: AnchoringOptions): Anchoring | undefined {
  if (!anchorer) return undefined
  const { chain, scheme, intervalMs } = anchorer
  const advancer = new Advancer({ anchorer, storage, logGuard, now, logger })
  let problem: AnchoringProblem | undefined

  /** Callers read this without a lock first, so that they lock the log only to plan an anchor. */
  async function isDue(rows: Pick<Reads, 'log' | 'anchors'>, atOnce: boolean): Promise<boolean> {
    const log = await rows.log.state()
    if (!log) return false
    const [newest, newestFinal] = [await rows.anchors.newest(log.logId), await rows.anchors.newestFinal(log.logId)]
    const anchored = { treeSize: log.treeSize, newest, newestFinal }
    return hasUnanchoredEntries(anchored) && (atOnce || isIntervalOver(anchored, now(), intervalMs))
  }

  /** Locks the log, so that one host plans at a time. */
  async function plan(tx: Writes, atOnce: boolean, by: Acting): Promise<AnchorRow | undefined> {
    const log = (await tx.log.lock())!
    const open = await tx.anchors.open()
    if (open) return open
    if (!(await isDue(tx, atOnce))) return undefined
    await logGuard.check(log, tx.log)
    const previous = await tx.anchors.newestFinalOn(chain, scheme, log.logId)
    const { logId, treeSize, rootHash } = log
    const about = { subject: logId, details: { tree_size: treeSize, chain } }
    if (atOnce) tx.audit.record({ event: 'anchor.forced', at: now(), by, ...about })
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
    isNeeded: async () => (await storage.read.anchors.open()) !== undefined || isDue(storage.read, false),
    async take({ atOnce = false, by = byCommand() } = {}) {
      const open = await storage.read.anchors.open()
      if (open || !(await isDue(storage.read, atOnce))) return open
      return storage.write((tx) => plan(tx, atOnce, by))
    },
    async advance(anchor, signal) {
      const advance = await advancer.advance(anchor, signal)
      problem = advance.outcome === 'blocked' ? advance.problem : undefined
      return advance
    },
    async examine(signal) {
      try {
        await callAnchorer((limit) => anchorer.account(limit), { signal, limitMs: ANSWER_MS })
        problem = undefined
      } catch (error) {
        if (!(error instanceof AnchoringError)) throw error
        problem = error.problem
        logger.warn({ chain, problem, reason: error.message }, 'cannot anchor on the chain')
      }
    },
    problem: () => problem,
  }
}
