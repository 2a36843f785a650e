/**
 * What the chain of the anchors has of the log: the account's attestations, which no database brings back to an older state. A host compares
 * its database with them before it signs. They say nothing of what was signed after the last one.
 */
import type { AttestedRoot } from '@claimcheck/core/plugin'
import type { FastifyBaseLogger } from 'fastify'
import { AnchoringError, callAnchorer } from '../../plugins/anchorer-calls.ts'
import type { Registry } from '../../plugins/registry.ts'

export interface ChainWitness {
  /** Asks the chain; after a failure again when it is called after a while. Throws nothing: the `problem` says why it was not answered. */
  ask(logId: string, limitMs: number): Promise<void>
  /** What the chain answered last; none before that. */
  recall(logId: string): readonly AttestedRoot[]
  /** Why the chain could not be asked; undefined where no anchorer can be. */
  problem(): string | undefined
}

interface ChainWitnessOptions {
  readonly registry: Pick<Registry, 'anchorer'>
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'warn'>
}

const NEWEST = 3
const RETRY_MS = 5000
const LONGEST_RETRY_MS = 40_000
/** 9999-12-31: later ones have no RFC 3339 form. */
const LATEST_S = 253_402_300_799

export function createChainWitness({ registry: { anchorer }, logger }: ChainWitnessOptions): ChainWitness {
  if (!anchorer?.attested) return { ask: async () => {}, recall: () => [], problem: () => undefined }
  const { chain } = anchorer
  let answer: { readonly logId: string; readonly roots: readonly AttestedRoot[] } | undefined
  let asking: { readonly logId: string; readonly answered: Promise<void> } | undefined
  let problem: string | undefined
  let failures = 0
  let askAgainAt = 0

  async function ask(logId: string, limitMs: number): Promise<void> {
    try {
      const never = new AbortController().signal
      const read = async (limit: AbortSignal) => readRoots(await anchorer!.attested!(logId, NEWEST, limit))
      const roots = await callAnchorer(read, { signal: never, limitMs })
      answer = { logId, roots: roots.filter((root) => root.logId === logId) }
      problem = undefined
      failures = 0
      const newest = roots[0] && { transaction: roots[0].txHash, treeSize: roots[0].treeSize }
      logger.info({ chain, found: roots.length, ...newest }, 'asked the chain of the anchors what it has of the log')
    } catch (error) {
      if (!(error instanceof AnchoringError)) throw error
      if (problem === undefined)
        logger.warn({ chain, problem: error.problem, reason: error.message }, 'cannot ask the chain of the anchors')
      problem = `the chain of the anchors cannot be asked (${error.problem})`
      askAgainAt =
        performance.now() + Math.max(Math.min(RETRY_MS * 2 ** failures++, LONGEST_RETRY_MS), error.retryAfterMs)
    }
  }

  return {
    ask(logId, limitMs) {
      if (problem !== undefined && performance.now() < askAgainAt) return Promise.resolve()
      if (asking?.logId === logId) return asking.answered
      const answered = ask(logId, limitMs).finally(() => {
        if (asking?.answered === answered) asking = undefined
      })
      asking = { logId, answered }
      return answered
    },
    recall: (logId) => (answer?.logId === logId ? answer.roots : []),
    problem: () => problem,
  }
}

/** A plugin may answer anything. @throws TypeError */
function readRoots(given: unknown): readonly AttestedRoot[] {
  if (!Array.isArray(given)) throw new TypeError('the anchorer answered no list')
  return given.map(({ logId, treeSize, rootHash, txHash, time }: Partial<AttestedRoot>) => {
    const isRoot =
      rootHash instanceof Uint8Array && rootHash.length === 32 && isCount(treeSize, Number.MAX_SAFE_INTEGER)
    if (typeof logId === 'string' && typeof txHash === 'string' && isRoot && isCount(time, LATEST_S))
      return { logId, treeSize, rootHash, txHash, time }
    throw new TypeError('the anchorer answered with an attestation that is none')
  })
}

function isCount(value: unknown, most: number): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= most
}
