/** Tells whether this host can do its work: its features say so, the database is read, and it takes writes. */
import { randomBytes, randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { touchTables } from '../storage/changes.ts'
import type { Storage, Writes } from '../storage/storage.ts'
import type { Feature, NotReady } from './feature.ts'
import type { Readiness } from './monitoring.ts'

interface ReadinessServices {
  readonly storage: Storage
  readonly logger: Pick<FastifyBaseLogger, 'error'>
}

/** The age of a good write up to which the next one is taken to succeed. */
const RECENT_MS = 5_000
/** The time after which a write counts as stuck. */
const LONGEST_WRITE_MS = 5_000
const LONGEST_PROBE_MS = 2_000
const DATABASE = 'database'
const CLAIM_BYTES = 32 * 1024

const UNREADABLE: Readiness = {
  ok: false,
  problems: ['the database cannot be read'],
  reasons: [DATABASE],
  warnings: [],
}

export function createReadiness(features: readonly Feature[], services: ReadinessServices): () => Promise<Readiness> {
  const writeProblem = watchWriting(services.storage)
  return async () => {
    try {
      const found: (NotReady & { readonly reason: string })[] = []
      const warned: string[] = []
      for (const { name, readiness, warnings } of features) {
        const problem = await readiness?.(services)
        if (problem) found.push({ ...problem, reason: name })
        warned.push(...((await warnings?.(services)) ?? []))
      }
      const problem = await writeProblem()
      if (problem !== undefined) found.push({ problem, serves: false, reason: DATABASE })
      const reasons = found.flatMap(({ serves, reason }) => (serves ? [] : [reason]))
      const problems = found.map((one) => one.problem)
      return { ok: reasons.length === 0, problems, reasons, warnings: warned }
    } catch (error) {
      services.logger.error({ err: error }, 'cannot read the database')
      return UNREADABLE
    }
  }
}

/** Tells whether receipts and the log can be read, also while nothing can be written. */
export function createReadReadiness({ storage, logger }: ReadinessServices): () => Promise<Readiness> {
  return async () => {
    try {
      await storage.read.log.state()
      return { ok: true, problems: [], reasons: [], warnings: [] }
    } catch (error) {
      logger.error({ err: error }, 'cannot read the database')
      return UNREADABLE
    }
  }
}

/** Says why claims cannot be stored now: goes by the last write, and writes again where that is long ago or failed. */
function watchWriting({ writing, write }: Pick<Storage, 'writing' | 'write'>): () => Promise<string | undefined> {
  const name = `readiness ${randomUUID()}`
  let probe: Promise<void> | undefined

  /** Makes a test write. After a failure it is as large as a claim with its receipt: on a full disk there may be room for less. */
  async function probeNow(hasFailed: boolean): Promise<void> {
    const holder = hasFailed ? randomBytes(CLAIM_BYTES).toString('hex') : name
    // Storage notes a failed write in `writing`.
    const take = async ({ leases, log, db }: Writes) => {
      await leases.take(name, holder, 0)
      await leases.release(name, holder)
      if (!hasFailed) return
      // Another session may hold the row that each append waits for, so the test write locks it, too.
      await log.lock()
      await touchTables(db)
    }
    await write(take, { proves: hasFailed }).catch(() => {})
    probe = undefined
  }

  return async () => {
    const last = writing.last()
    if (!last || last.problem !== undefined || performance.now() - last.at > RECENT_MS) {
      probe ??= probeNow(last?.problem !== undefined)
      await Promise.race([probe, setTimeout(LONGEST_PROBE_MS, undefined, { ref: false })])
    }
    const waits = performance.now() - (writing.pendingSince() ?? performance.now())
    if (waits > LONGEST_WRITE_MS) return `the database is slow: a write waits for ${Math.floor(waits / 1000)} s`
    const problem = writing.last()?.problem
    return problem === undefined ? undefined : `the database takes no writes: ${problem}`
  }
}
