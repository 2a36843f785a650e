/**
 * The clients of the log as its witnesses: each sends the newest signed head that it saw along with its requests. A head that a key of the log
 * signed, and that the log does not contain, stops the log once: see `contradiction.ts`. What clients send costs no answer any time: it is
 * looked at afterwards, many heads in one read.
 */
import { headField, LONGEST_HEAD_FIELD, readHeadField, type SignedTreeHead } from '@claimcheck/core/log'
import { toBase64url } from '@claimcheck/core/receipts'
import type { FastifyBaseLogger } from 'fastify'
import { LRUCache } from 'lru-cache'
import type { LogState } from '../../storage/log-state.ts'
import { type Storage, StorageError } from '../../storage/storage.ts'
import { settleWitnessed, type WitnessOutcome } from './contradiction.ts'
import type { LogGuard } from './log-guard.ts'
import type { Head } from './memory/head-record.ts'

/** What became of what clients sent, as metrics name it. */
export const WITNESS_OUTCOMES = [
  /** The log has it. */
  'contained',
  /** A key of the log signed it, and the log does not have it. */
  'contradicting',
  /** Its signature is none of the key that it names. */
  'not_signed',
  /** It is of this log, and names a key that the log does not know: the log is from before that key, or the head is made up. */
  'unknown_key',
  /** It is of a log that has ended, of another issuer, or goes on elsewhere. */
  'other_log',
  /** It is no tree head. */
  'malformed',
  /** Too many clients sent heads at the same time. */
  'left_out',
] as const
export type Outcome = (typeof WITNESS_OUTCOMES)[number]

export type LogWitness = ReturnType<typeof createLogWitness>

interface LogWitnessOptions {
  readonly storage: Pick<Storage, 'read' | 'write'>
  readonly logGuard: Pick<LogGuard, 'newest' | 'examine'>
  readonly now: () => number
  readonly logger: Pick<FastifyBaseLogger, 'info' | 'error'>
}

interface Heard {
  readonly text: string
  readonly head: SignedTreeHead
}

const EVERY_MS = 100
/** Signatures: 20 a second. */
const MOST_VERIFIED = 2
/** Of as many credentials one head each waits to be looked at. */
const MOST_WAITING = 1000
/** So long a finding counts: the database may be replaced by an older one. */
const JUDGED_MS = 2000

export function createLogWitness({ storage, logGuard, now, logger }: LogWitnessOptions) {
  const totals = new Map<Outcome, number>(WITNESS_OUTCOMES.map((outcome) => [outcome, 0]))
  const judged = new LRUCache<string, Outcome>({ max: MOST_WAITING, ttl: JUDGED_MS })
  /** By credential, so that none keeps out the heads of others. */
  const waiting = new Map<string, Heard>()
  let announced: { readonly head: Head; readonly text: string } | undefined
  let timer: NodeJS.Timeout | undefined
  let looking: Promise<void> | undefined

  function count(outcome: Outcome): void {
    totals.set(outcome, totals.get(outcome)! + 1)
  }

  function judge(text: string, outcome: Outcome): void {
    judged.set(text, outcome)
    count(outcome)
  }

  function schedule(): void {
    if (looking || timer || waiting.size === 0) return
    timer = setTimeout(() => {
      timer = undefined
      looking = look()
        .catch(report)
        .finally(() => {
          looking = undefined
          schedule()
        })
    }, EVERY_MS).unref()
  }

  /** Clients send again what was lost with an outage of the database. */
  function report(error: unknown): void {
    if (!(error instanceof StorageError))
      logger.error({ err: error }, 'cannot compare the log with the heads of clients')
  }

  async function look(): Promise<void> {
    const heard = [...waiting]
    waiting.clear()
    const log = await storage.read.log.state()
    if (!log) return
    const ours = heard.filter(([, { text, head }]) => {
      const found = judged.get(text) ?? (head.body.log_id === log.logId ? undefined : 'other_log')
      if (found) judge(text, found)
      return !found
    })
    const sizes = [...new Set(ours.map(([, { head }]) => head.body.tree_size))]
    const roots = sizes.length === 0 ? [] : await storage.read.log.rootsAt(log.logId, sizes)
    const stored = new Set(roots.map(({ treeSize, rootHash }) => `${treeSize} ${toBase64url(rootHash)}`))
    const others = ours.filter(([, { text, head }]) => {
      const isStored = stored.has(`${head.body.tree_size} ${head.body.root_hash}`)
      if (isStored) judge(text, 'contained')
      return !isStored
    })
    for (const [spender, one] of others.slice(MOST_VERIFIED)) if (!waiting.has(spender)) waiting.set(spender, one)
    for (const [, { text, head }] of others.slice(0, MOST_VERIFIED))
      judge(text, judged.get(text) ?? (await settle(log, head)))
  }

  async function settle(log: LogState, head: SignedTreeHead): Promise<Outcome> {
    const found: WitnessOutcome = await settleWitnessed(storage, log, JSON.stringify(head), now())
    if (found !== 'stops') return found
    logger.error(
      { log_id: log.logId, tree_size: log.treeSize, signed: head.body.tree_size },
      'a client has a signed head that the log does not contain: no host signs any more',
    )
    // Says so at once, and writes it down for others.
    await logGuard.examine()
    return 'contradicting'
  }

  return {
    newest(): string | undefined {
      const head = logGuard.newest()
      if (head?.signed === undefined) return undefined
      if (announced?.head === head) return announced.text
      announced = { head, text: headField(JSON.parse(head.signed)) }
      judged.set(announced.text, 'contained')
      return announced.text
    },
    hear(text: string, spender: string) {
      if (text === announced?.text) return count('contained')
      if (text.length > LONGEST_HEAD_FIELD) return count('malformed')
      const known = judged.get(text)
      if (known) return count(known)
      const head = readHeadField(text)
      if (!head) return count('malformed')
      const before = waiting.get(spender)
      if (!before && waiting.size >= MOST_WAITING) return count('left_out')
      // Programs share a key: of their heads the one of the largest tree says the most, and the others come again.
      if (!before || before.head.body.tree_size < head.body.tree_size) waiting.set(spender, { text, head })
      schedule()
    },
    /** How often each outcome was found since the process began. */
    totals: (): ReadonlyMap<Outcome, number> => totals,
    /** Resolves when nothing is looked at any more. */
    async idle(): Promise<void> {
      clearTimeout(timer)
      waiting.clear()
      await looking
    },
  }
}
