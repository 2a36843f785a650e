/** Moves an open anchor on by one step. What a step comes to is stored before the next begins, so that it may end anywhere. */
import type { Anchorer, AnchorSighting, AnchorSubject, Instant } from '@claimcheck/core'
import { toBase64url } from '@claimcheck/core'
import type { FastifyBaseLogger } from 'fastify'
import { ServiceError } from '../base/errors.ts'
import type { LogGuard } from '../log/log-guard.ts'
import type { AnchoringProblem, AnchorRow, FinalAnchor } from '../storage/anchor-row.ts'
import type { Storage } from '../storage/storage.ts'
import { AnchoringError, type AskOptions, ask } from './anchoring-error.ts'
import { type Change, outdatedBy, reactionTo } from './rule.ts'

/** `moved`: there may be more to do at once. `waiting`: for the chain. */
export type Advance =
  | { readonly outcome: 'moved' | 'waiting' }
  | { readonly outcome: 'hindered'; readonly problem: AnchoringProblem; readonly retryAfterMs: number }

export interface AdvanceOptions {
  readonly anchorer: Anchorer
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly logGuard: Pick<LogGuard, 'maySign'>
  readonly now: () => Instant
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'warn'>
}

/** Another host has moved it on. */
class AnchorConflict extends Error {}

/** Beyond what an anchorer may wait for a block. */
const ANSWER_MS = 60_000

export function createAdvance({ anchorer, storage, logGuard, now, logger }: AdvanceOptions) {
  const { chain, scheme, stuckAfterMs } = anchorer

  async function store(before: AnchorRow, change: Change): Promise<AnchorRow> {
    const after = { ...before, ...change }
    if (!(await storage.write((tx) => tx.anchors.replace(before, after)))) throw new AnchorConflict()
    const { id, treeSize, state, problem } = after
    if (state !== before.state) {
      const level = state === 'dropped' ? 'warn' : 'info'
      logger[level]({ anchor: id, treeSize, state, problem }, 'an anchor has moved on')
    }
    return after
  }

  async function subjectOf({ logId, treeSize, rootHash, previousId }: AnchorRow): Promise<AnchorSubject> {
    if (previousId === null) return { logId, treeSize, rootHash, previous: null }
    const previous = (await storage.read.anchors.byId(previousId)) as FinalAnchor
    const { uid } = previous.landing
    return { logId, treeSize, rootHash, previous: { uid, treeSize: previous.treeSize, rootHash: previous.rootHash } }
  }

  async function sign(anchor: AnchorRow, subject: AnchorSubject, limits: AskOptions): Promise<AnchorRow> {
    const { signed: earlier, attester } = anchor
    if (attester !== anchorer.identity().attester) {
      throw new AnchoringError(
        'anchorer_changed',
        `the anchor that is under way is from ${attester}, who alone can raise its fees`,
      )
    }
    if (earlier.length === 0) await ask((limit) => anchorer.prepare(limit), limits)
    const signed = await ask((limit) => anchorer.sign(subject, earlier, limit), limits)
    if (earlier[0] && earlier[0].nonce !== signed.nonce) {
      throw new AnchoringError(
        'anchorer_error',
        'a second transaction was signed with a nonce of its own: both could land',
      )
    }
    return store(anchor, { state: 'signed', signed: [...earlier, signed], problem: null })
  }

  async function look(anchor: AnchorRow, subject: AnchorSubject, limits: AskOptions): Promise<AnchorSighting> {
    const sighting = await ask((limit) => anchorer.look(subject, anchor.signed, limit), limits)
    if (sighting.state === 'final' && !isOf(sighting.anchor, anchor)) {
      throw new AnchoringError('anchorer_error', 'what was found on the chain is another anchor')
    }
    return sighting
  }

  /** Looks first: whatever was lost of what was done, by a crash or with an old database, the chain has it. */
  async function step(anchor: AnchorRow, signal: AbortSignal): Promise<AnchorRow> {
    if (anchor.state === 'planned') {
      const { logId } = (await storage.read.log.state())!
      const problem = outdatedBy(anchor, { logId, chain, scheme, ...anchorer.identity() })
      if (problem) return store(anchor, { state: 'dropped', problem })
    }
    if (anchor.chain !== chain || anchor.scheme !== scheme) {
      const message = `the anchor that is under way is on ${anchor.chain}: configure that until it has landed`
      throw new AnchoringError('anchorer_changed', message)
    }
    const subject = await subjectOf(anchor)
    const limits = { signal, limitMs: stuckAfterMs + ANSWER_MS }
    const sighting = await look(anchor, subject, limits)
    const reaction = reactionTo(sighting, anchor, { now: now(), stuckAfterMs })
    if ((reaction.send || reaction.sign) && !(await logGuard.maySign())) {
      throw new ServiceError('read_only', 'this host is read-only: it looks at anchors, and makes none')
    }
    if (reaction.send) await ask((limit) => anchorer.send(anchor.signed.at(-1)!, limit), limits)
    if (reaction.sign) return sign(anchor, subject, limits)
    return reaction.change ? store(anchor, reaction.change) : anchor
  }

  async function hinder(anchor: AnchorRow, { problem, message, retryAfterMs }: AnchoringError): Promise<Advance> {
    const { id, treeSize, state } = anchor
    logger.warn({ anchor: id, treeSize, state, problem, reason: message }, 'anchoring does not go on')
    if (anchor.problem !== problem) await store(anchor, { problem })
    return { outcome: 'hindered', problem, retryAfterMs }
  }

  /** @throws ServiceError `read_only` when there is something to make, and this host may not; StorageError; the signal's reason when that is aborted */
  return async function advance(anchor: AnchorRow, signal: AbortSignal): Promise<Advance> {
    try {
      try {
        const next = await step(anchor, signal)
        if (next !== anchor) return { outcome: 'moved' }
      } catch (error) {
        if (!(error instanceof AnchoringError)) throw error
        return await hinder(anchor, error)
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
