/** Moves an open anchor on by one step. What a step comes to is stored before the next begins, so that it may end anywhere. */
import type { Anchorer, AnchorSubject, Instant } from '@claimcheck/core'
import { toBase64url } from '@claimcheck/core'
import type { FastifyBaseLogger } from 'fastify'
import type { AnchorRow, FinalAnchor } from '../../storage/anchor-row.ts'
import type { Storage } from '../../storage/storage.ts'
import { ask, Hindrance } from './hindrance.ts'
import { type Change, nextStep, reactionTo } from './rule.ts'

/** `moved`: there may be more to do at once. `waiting`: for the chain. */
export type Advance =
  | { readonly outcome: 'moved' | 'waiting' }
  | { readonly outcome: 'hindered'; readonly retryAfterMs: number }

export interface AdvanceOptions {
  readonly anchorer: Anchorer
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly now: () => Instant
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'warn'>
}

/** Another host has moved it on. */
class AnchorConflict extends Error {}

/** Beyond what an anchorer may wait for a block. */
const ANSWER_MS = 60_000

export function createAdvance({ anchorer, storage, now, logger }: AdvanceOptions) {
  const { chain, scheme, stuckAfterMs } = anchorer

  async function store(before: AnchorRow, change: Change): Promise<AnchorRow> {
    const after = { ...before, ...change }
    if (!(await storage.write((tx) => tx.anchors.replace(before, after)))) throw new AnchorConflict()
    const { id, treeSize, state, problem } = after
    if (state !== before.state) logger.info({ anchor: id, treeSize, state, problem }, 'an anchor has moved on')
    return after
  }

  async function subjectOf({ logId, treeSize, rootHash, previousId }: AnchorRow): Promise<AnchorSubject> {
    if (previousId === null) return { logId, treeSize, rootHash, previous: null }
    const previous = (await storage.read.anchors.byId(previousId)) as FinalAnchor
    const { uid } = previous.landing
    return { logId, treeSize, rootHash, previous: { uid, treeSize: previous.treeSize, rootHash: previous.rootHash } }
  }

  /** @throws Hindrance when it was planned for another anchorer and may be on its way there: two could land */
  async function dropForeign(anchor: AnchorRow): Promise<AnchorRow | undefined> {
    const { attester } = anchorer.identity()
    if (anchor.chain === chain && anchor.scheme === scheme && anchor.attester === attester) return undefined
    if (anchor.state === 'planned') return store(anchor, { state: 'dropped', problem: 'anchorer_changed' })
    const message = `the anchor that is under way is on ${anchor.chain}, from ${anchor.attester}: configure these until it has landed`
    throw new Hindrance('anchorer_changed', message)
  }

  async function step(anchor: AnchorRow, signal: AbortSignal): Promise<AnchorRow> {
    const dropped = await dropForeign(anchor)
    if (dropped) return dropped
    const subject = await subjectOf(anchor)
    const options = { signal, limitMs: stuckAfterMs + ANSWER_MS }

    async function sign(): Promise<AnchorRow> {
      const earlier = anchor.signed
      if (earlier.length === 0) await ask((limit) => anchorer.prepare(limit), options)
      const signed = await ask((limit) => anchorer.sign(subject, earlier, limit), options)
      if (earlier[0] && earlier[0].nonce !== signed.nonce) {
        throw new Hindrance(
          'anchorer_error',
          'a second transaction was signed with a nonce of its own: both could land',
        )
      }
      return store(anchor, { state: 'signed', signed: [...earlier, signed], problem: null })
    }

    const send = () => ask((limit) => anchorer.send(anchor.signed.at(-1)!, limit), options)

    async function look(): Promise<AnchorRow> {
      const sighting = await ask((limit) => anchorer.look(subject, anchor.signed, limit), options)
      if (sighting.state === 'final' && !isOf(sighting.anchor, anchor)) {
        throw new Hindrance('anchorer_error', 'what was found on the chain is another anchor')
      }
      const reaction = reactionTo(sighting, anchor, { now: now(), stuckAfterMs })
      if (reaction.do === 'store') return store(anchor, reaction.change)
      if (reaction.send) await send()
      return reaction.sign ? sign() : anchor
    }

    switch (nextStep(anchor.state as 'planned' | 'signed' | 'sent' | 'mined')) {
      case 'sign':
        return sign()
      case 'send':
        await send()
        return store(anchor, { state: 'sent', sentAt: now(), problem: null })
      case 'look':
        return look()
    }
  }

  async function hinder(anchor: AnchorRow, { problem, message, retryAfterMs }: Hindrance): Promise<Advance> {
    const { id, treeSize, state } = anchor
    logger.warn({ anchor: id, treeSize, state, problem, reason: message }, 'anchoring does not go on')
    if (anchor.problem !== problem) await store(anchor, { problem })
    return { outcome: 'hindered', retryAfterMs }
  }

  /** @throws StorageError; the signal's reason when that is aborted */
  return async function advance(anchor: AnchorRow, signal: AbortSignal): Promise<Advance> {
    try {
      try {
        const next = await step(anchor, signal)
        if (next !== anchor) return { outcome: 'moved' }
      } catch (error) {
        if (!(error instanceof Hindrance)) throw error
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
