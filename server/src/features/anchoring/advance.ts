/** Advances an open anchor by one step. It stores the result before the next step starts, so that a crash at any point loses nothing. */

import type { Anchorer, AnchorSighting, AnchorSubject } from '@claimcheck/core/plugin'
import { toBase64url } from '@claimcheck/core/receipts'
import type { Instant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import { ServiceError } from '../../base/errors.ts'
import { AnchoringError, type CallOptions, callAnchorer } from '../../plugins/anchorer-calls.ts'
import type { AnchoringProblem, AnchorRow, FinalAnchor } from '../../storage/anchor-row.ts'
import type { Storage } from '../../storage/storage.ts'
import type { LogGuard } from '../log/log-guard.ts'
import { type Change, outdatedBy, reactionTo } from './rule.ts'

/**
 * The result of a step. `moved`: the anchor changed, and the next step may be possible at once. `waiting`: the chain must do something first.
 * `blocked`: a problem prevents the step.
 */
export type Advance =
  | { readonly outcome: 'moved' | 'waiting' }
  | { readonly outcome: 'blocked'; readonly problem: AnchoringProblem; readonly retryAfterMs: number }

interface AdvanceParts {
  readonly anchorer: Anchorer
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly logGuard: Pick<LogGuard, 'maySign'>
  readonly now: () => Instant
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'warn'>
}

/** An error that says that another host changed the anchor at the same time. */
class AnchorConflict extends Error {}

/** The time limit of a call, added to the time that an anchorer may wait for a block. */
const ANSWER_MS = 60_000
/** The most receipts that one statement looks at: all of a large log would take longer than a statement may. */
const RECEIPTS_AT_ONCE = 10_000

export function createAdvance({ anchorer, storage, logGuard, now, logger }: AdvanceParts) {
  const { chain, scheme, stuckAfterMs } = anchorer

  async function store(before: AnchorRow, change: Change): Promise<AnchorRow> {
    const after = { ...before, ...change }
    const told = after.state === 'final' ? await workspacesOf(after) : []
    const isStored = await storage.write(async (tx) => {
      if (!(await tx.anchors.replace(before, after))) return false
      const event = { type: 'anchor.landed', at: now(), subject: String(after.id), detail: null } as const
      for (const workspaceId of told) tx.events.record({ ...event, workspaceId })
      return true
    })
    if (!isStored) throw new AnchorConflict()
    const { id, treeSize, state, problem } = after
    if (state !== before.state) {
      const level = state === 'dropped' ? 'warn' : 'info'
      logger[level]({ anchor: id, treeSize, state, problem }, 'the state of an anchor changed')
    }
    return after
  }

  /** Lists the workspaces with receipts that no earlier anchor covers. */
  async function workspacesOf({ logId, treeSize }: AnchorRow): Promise<ReadonlySet<string>> {
    const covered = await storage.read.anchors.newestFinal(logId)
    const found = new Set<string>()
    for (let from = covered?.treeSize ?? 0; from < treeSize; from += RECEIPTS_AT_ONCE) {
      const to = Math.min(from + RECEIPTS_AT_ONCE, treeSize)
      for (const id of await storage.read.anchors.workspacesOf(logId, from, to)) found.add(id)
    }
    return found
  }

  async function subjectOf({ logId, treeSize, rootHash, previousId }: AnchorRow): Promise<AnchorSubject> {
    if (previousId === null) return { logId, treeSize, rootHash, previous: null }
    const previous = (await storage.read.anchors.byId(previousId)) as FinalAnchor
    const { uid } = previous.landing
    return { logId, treeSize, rootHash, previous: { uid, treeSize: previous.treeSize, rootHash: previous.rootHash } }
  }

  async function sign(anchor: AnchorRow, subject: AnchorSubject, limits: CallOptions): Promise<AnchorRow> {
    const { signed: earlier, attester } = anchor
    if (attester !== anchorer.identity().attester) {
      throw new AnchoringError(
        'anchorer_changed',
        `configure the account ${attester} until the open anchor has landed: only it can raise the fees`,
      )
    }
    if (earlier.length === 0) await callAnchorer((limit) => anchorer.prepare(limit), limits)
    const signed = await callAnchorer((limit) => anchorer.sign(subject, earlier, limit), limits)
    if (earlier[0] && earlier[0].nonce !== signed.nonce) {
      throw new AnchoringError(
        'anchorer_error',
        'the anchorer signed a second transaction with another nonce: both could land',
      )
    }
    return store(anchor, { state: 'signed', signed: [...earlier, signed], problem: null })
  }

  /** Finds the reason to drop an anchor that costs nothing yet; undefined when there is none. */
  async function reasonToDrop(anchor: AnchorRow): Promise<AnchoringProblem | undefined> {
    if (anchor.state !== 'planned') return undefined
    const { logId } = (await storage.read.log.state())!
    return outdatedBy(anchor, { logId, chain, scheme, ...anchorer.identity() })
  }

  async function look(anchor: AnchorRow, subject: AnchorSubject, limits: CallOptions): Promise<AnchorSighting> {
    const sighting = await callAnchorer((limit) => anchorer.look(subject, anchor.signed, limit), limits)
    if (sighting.state === 'final' && !isOf(sighting.anchor, anchor)) {
      throw new AnchoringError('anchorer_error', 'the anchorer found another anchor on the chain')
    }
    return sighting
  }

  /** Makes one step. It looks at the chain first, because a crash or an old database may have lost what was done. */
  async function step(anchor: AnchorRow, signal: AbortSignal): Promise<AnchorRow> {
    const problem = await reasonToDrop(anchor)
    if (problem) return store(anchor, { state: 'dropped', problem })
    if (anchor.chain !== chain || anchor.scheme !== scheme) {
      const message = `the open anchor is on ${anchor.chain}: configure that chain until the anchor has landed`
      throw new AnchoringError('anchorer_changed', message)
    }
    const subject = await subjectOf(anchor)
    const limits = { signal, limitMs: stuckAfterMs + ANSWER_MS }
    const sighting = await look(anchor, subject, limits)
    const reaction = reactionTo(sighting, anchor, { now: now(), stuckAfterMs })
    if ((reaction.send || reaction.sign) && !(await logGuard.maySign())) {
      throw new ServiceError('read_only', 'this host is read-only: it signs and sends no anchors')
    }
    if (reaction.send) await callAnchorer((limit) => anchorer.send(anchor.signed.at(-1)!, limit), limits)
    if (reaction.sign) return sign(anchor, subject, limits)
    return reaction.change ? store(anchor, reaction.change) : anchor
  }

  async function block(anchor: AnchorRow, { problem, message, retryAfterMs }: AnchoringError): Promise<Advance> {
    const { id, treeSize, state } = anchor
    logger.warn({ anchor: id, treeSize, state, problem, reason: message }, 'anchoring is blocked')
    if (anchor.problem !== problem) await store(anchor, { problem })
    return { outcome: 'blocked', problem, retryAfterMs }
  }

  return async function advance(anchor: AnchorRow, signal: AbortSignal): Promise<Advance> {
    try {
      try {
        const next = await step(anchor, signal)
        if (next !== anchor) return { outcome: 'moved' }
      } catch (error) {
        if (!(error instanceof AnchoringError)) throw error
        return await block(anchor, error)
      }
      if (anchor.problem !== null) await store(anchor, { problem: null })
      return { outcome: 'waiting' }
    } catch (error) {
      if (!(error instanceof AnchorConflict)) throw error
      return { outcome: 'moved' }
    }
  }
}

function isOf(found: { chain: string; treeSize: number; rootHash: string }, planned: AnchorRow): boolean {
  const { chain, treeSize, rootHash } = planned
  return found.chain === chain && found.treeSize === treeSize && found.rootHash === toBase64url(rootHash)
}
