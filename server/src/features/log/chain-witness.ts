/**
 * What the chain of the anchors has of the log: the account's attestations, which no database brings back to an older state. A host compares
 * its database with them before it signs. They say nothing of what was signed after the last one.
 */
import type { Anchorer, AttestedRoot, AttestedSearch } from '@claimcheck/core/plugin'
import { formatInstant } from '@claimcheck/core/rules'
import type { FastifyBaseLogger } from 'fastify'
import { AnchoringError, callAnchorer } from '../../plugins/anchorer-calls.ts'
import type { LogState } from '../../storage/log-state.ts'
import type { Reads, Storage } from '../../storage/storage.ts'
import { behind, includes, RECOVERY, readOnly } from './log-comparison.ts'

export type ChainWitness = typeof NONE

interface ChainWitnessOptions {
  readonly registry: { readonly anchorer: Pick<Anchorer, 'chain' | 'scheme' | 'attested'> | undefined }
  readonly storage: Pick<Storage, 'read'>
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'warn'>
}

const NEWEST = 3
const RETRY_MS = 5000
const LONGEST_RETRY_MS = 40_000
/** 9999-12-31: later ones have no RFC 3339 form. */
const LATEST_S = 253_402_300_799

const NONE = {
  /**
   * Asks the chain; after a failure again when it is called after a while. A search that was cut short goes on where it ended. Throws nothing:
   * the `problem` says what is not known.
   */
  ask: async (_logId: string, _limitMs: number): Promise<void> => {},
  /**
   * Compares the log with what the chain answered; with nothing before that. It is the account's own evidence, and names no key of the log:
   * it stops this host, and is not written into the database. Other hosts ask the chain themselves.
   * @throws ServiceError `read_only`
   */
  compare: async (_log: LogState, _rows: Reads['log']): Promise<void> => {},
  /** The reason why it is not known what the chain has of the log; undefined where it is, and where no anchorer can be asked. */
  problem: (): string | undefined => undefined,
}

/** What was found of a log so far. */
interface Answer {
  readonly logId: string
  readonly roots: readonly AttestedRoot[]
  /** The block at which the search goes on, downwards; null: it came to its end. */
  readonly next: number | null
  /** Transactions of attestations that are in the database. */
  readonly included: Set<string>
}

export function createChainWitness({ registry: { anchorer }, storage, logger }: ChainWitnessOptions): typeof NONE {
  if (!anchorer?.attested) return NONE
  const { chain, scheme } = anchorer
  const attested = anchorer.attested.bind(anchorer)
  let answer: Answer | undefined
  let asking: { readonly logId: string; readonly answered: Promise<void> } | undefined
  let problem: string | undefined
  let failures = 0
  let askAgainAt = 0

  async function ask(logId: string, limitMs: number): Promise<void> {
    const from = answer?.logId === logId ? (answer.next ?? undefined) : undefined
    // An anchor of a larger tree is in the block of the newest that the database has, or in a later one.
    const known = await storage.read.anchors.newestFinalOn(chain, scheme, logId).catch(() => undefined)
    const range = { ...(from === undefined ? {} : { from }), to: known?.landing.blockNumber ?? 0 }
    const never = new AbortController().signal
    const read = async (limit: AbortSignal) => readSearch(await attested(logId, { limit: NEWEST, ...range }, limit))
    try {
      const { roots, next } = await callAnchorer(read, { signal: never, limitMs })
      answer = { logId, roots: roots.filter((root) => root.logId === logId), next, included: new Set() }
      problem = next === null ? undefined : cutShort(next)
      failures = 0
      askAgainAt = performance.now() + RETRY_MS
      const newest = roots[0] && { transaction: roots[0].txHash, treeSize: roots[0].treeSize }
      const found = { chain, found: roots.length, ...newest, ...(next === null ? {} : { searchedBackTo: next + 1 }) }
      logger.info(found, 'asked the chain of the anchors what it has of the log')
    } catch (error) {
      if (!(error instanceof AnchoringError)) throw error
      if (failures === 0)
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
    async compare(log, rows) {
      if (answer?.logId !== log.logId) return
      const { roots, included } = answer
      for (const root of roots) {
        if (included.has(root.txHash)) continue
        if (!(await includes(log, root, rows))) throw readOnly(attestedProblem(log, root))
        included.add(root.txHash)
      }
    },
    problem: () => problem,
  }
}

function cutShort(next: number): string {
  return `the chain of the anchors has nothing of the log from block ${next + 1} on, and older blocks are not searched yet`
}

function attestedProblem(log: LogState, { treeSize, txHash, time }: AttestedRoot): string {
  const where = `by the transaction ${txHash} of ${formatInstant(time * 1000)}`
  if (log.treeSize < treeSize) return `${behind(log, treeSize)} and anchored ${where}. ${RECOVERY}`
  return `the entries in the database differ from those that were anchored ${where}. ${RECOVERY}`
}

/** A plugin may answer anything. @throws TypeError */
function readSearch(given: Awaited<ReturnType<NonNullable<Anchorer['attested']>>>): AttestedSearch {
  const { roots, next }: Partial<AttestedSearch> = given ?? {}
  if (!Array.isArray(roots)) throw new TypeError('the anchorer answered no list')
  if (next !== null && !isCount(next, Number.MAX_SAFE_INTEGER))
    throw new TypeError('the anchorer did not say how far it searched')
  return { roots: roots.map(readRoot), next }
}

function readRoot({ logId, treeSize, rootHash, txHash, time }: Partial<AttestedRoot>): AttestedRoot {
  const isRoot = rootHash instanceof Uint8Array && rootHash.length === 32 && isCount(treeSize, Number.MAX_SAFE_INTEGER)
  if (typeof logId === 'string' && typeof txHash === 'string' && isRoot && isCount(time, LATEST_S))
    return { logId, treeSize, rootHash, txHash, time }
  throw new TypeError('the anchorer answered with an attestation that is none')
}

function isCount(value: unknown, most: number): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= most
}
