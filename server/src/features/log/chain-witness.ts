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

export function createChainWitness({ registry: { anchorer }, logger }: ChainWitnessOptions): ChainWitness {
  if (!anchorer?.attested) return { ask: async () => {}, recall: () => [], problem: () => undefined }
  const { chain } = anchorer
  let answer: { readonly logId: string; readonly roots: readonly AttestedRoot[] } | undefined
  let asking: Promise<void> | undefined
  let problem: string | undefined
  let askAgainAt = 0

  async function ask(logId: string, limitMs: number): Promise<void> {
    try {
      const never = new AbortController().signal
      const roots = await callAnchorer((limit) => anchorer!.attested!(logId, NEWEST, limit), { signal: never, limitMs })
      answer = { logId, roots: roots.filter((root) => root.logId === logId) }
      problem = undefined
      const newest = roots[0] && { transaction: roots[0].txHash, treeSize: roots[0].treeSize }
      logger.info({ chain, found: roots.length, ...newest }, 'asked the chain of the anchors what it has of the log')
    } catch (error) {
      if (!(error instanceof AnchoringError)) throw error
      if (problem === undefined)
        logger.warn({ chain, problem: error.problem, reason: error.message }, 'cannot ask the chain of the anchors')
      problem = `the chain of the anchors cannot be asked (${error.problem})`
      askAgainAt = performance.now() + Math.max(RETRY_MS, error.retryAfterMs)
    }
  }

  return {
    ask(logId, limitMs) {
      if (problem !== undefined && performance.now() < askAgainAt) return Promise.resolve()
      asking ??= ask(logId, limitMs).finally(() => {
        asking = undefined
      })
      return asking
    },
    recall: (logId) => (answer?.logId === logId ? answer.roots : []),
    problem: () => problem,
  }
}
