/**
 * A memory on the chain of the anchors: the account's attestations, which no restored database takes back. They say nothing of what was signed
 * after the last one, and name no key of the log. So they stop this host and are not written into the database: other hosts ask the chain
 * themselves.
 */
import type { Anchorer, AttestedRoot, AttestedSearch } from '@claimcheck/core/plugin'
import type { FastifyBaseLogger } from 'fastify'
import { AnchoringError, callAnchorer } from '../../../plugins/anchorer-calls.ts'
import type { Storage } from '../../../storage/storage.ts'
import type { Head } from './head-record.ts'
import { type Memory, PASSIVE } from './memory.ts'

interface ChainMemoryOptions {
  readonly registry: { readonly anchorer: Pick<Anchorer, 'chain' | 'scheme' | 'attested'> | undefined }
  readonly storage: Pick<Storage, 'read'>
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'warn'>
}

const NEWEST = 3
const RETRY_MS = 5000
const LONGEST_RETRY_MS = 40_000
/** How long the chain may take: where a host remembers the log, and where it does not. */
const LIMIT_MS = { known: 5000, unknown: 20_000 }
/** 9999-12-31: later ones have no RFC 3339 form. */
const LATEST_S = 253_402_300_799

const CHAIN = { ...PASSIVE, isPrompt: false, isApart: true }

/** What was found of a log so far. */
interface Answer {
  readonly logId: string
  readonly heads: readonly Head[]
  /** The block at which the search goes on, downwards; null: it came to its end. */
  readonly next: number | null
}

/** Asks after a failure again when it is called after a while. A search that was cut short goes on where it ended. */
export function createChainMemory({ registry: { anchorer }, storage, logger }: ChainMemoryOptions): Memory {
  if (!anchorer?.attested) return { ...CHAIN, recall: () => [] }
  const { chain, scheme } = anchorer
  const attested = anchorer.attested.bind(anchorer)
  let answer: Answer | undefined
  let asking: { readonly logId: string; readonly answered: Promise<void> } | undefined
  let problem: string | undefined
  let failures = 0
  let askAgainAt = 0

  async function ask(logId: string, limitMs: number): Promise<void> {
    const start = answer?.logId === logId && answer.next !== null ? { from: answer.next } : {}
    // An anchor of a larger tree is in the block of the newest that the database has, or in a later one.
    const newest = await storage.read.anchors.newestFinalOn(chain, scheme, logId).catch(() => undefined)
    const range = { limit: NEWEST, ...start, to: newest?.landing.blockNumber ?? 0 }
    const never = new AbortController().signal
    const read = async (limit: AbortSignal) => readSearch(await attested(logId, range, limit))
    try {
      const { roots, next } = await callAnchorer(read, { signal: never, limitMs })
      answer = { logId, heads: roots.filter((root) => root.logId === logId).map(toHead), next }
      problem = searchProblem(next)
      failures = 0
      askAgainAt = performance.now() + RETRY_MS
      const searchedBackTo = next === null ? undefined : next + 1
      const found = { transaction: roots[0]?.txHash, treeSize: roots[0]?.treeSize, searchedBackTo }
      logger.info({ chain, found: roots.length, ...found }, 'asked the chain of the anchors what it has of the log')
    } catch (error) {
      if (!(error instanceof AnchoringError)) throw error
      if (failures === 0)
        logger.warn({ chain, problem: error.problem, reason: error.message }, 'cannot ask the chain of the anchors')
      problem = `the chain of the anchors cannot be asked (${error.problem})`
      const waitMs = Math.max(Math.min(RETRY_MS * 2 ** failures++, LONGEST_RETRY_MS), error.retryAfterMs)
      askAgainAt = performance.now() + waitMs
    }
  }

  return {
    ...CHAIN,
    load({ logId }, isKnown) {
      if (problem !== undefined && performance.now() < askAgainAt) return Promise.resolve()
      if (asking?.logId === logId) return asking.answered
      const answered = ask(logId, isKnown ? LIMIT_MS.known : LIMIT_MS.unknown).finally(() => {
        if (asking?.answered === answered) asking = undefined
      })
      asking = { logId, answered }
      return answered
    },
    recall: (logId) => (answer?.logId === logId ? answer.heads : []),
    problem: () => problem,
  }
}

function searchProblem(next: number | null): string | undefined {
  if (next === null) return undefined
  return `the chain of the anchors has nothing of the log from block ${next + 1} on, and older blocks are not searched yet`
}

function toHead({ logId, treeSize, rootHash, txHash, time }: AttestedRoot): Head {
  return { logId, name: '', treeSize, rootHash, issuedAt: time * 1000, transaction: txHash }
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
