/** Compares the log with what this host remembers once a second, also while it has nothing to sign: it may be the only one that knows. */
import { setTimeout } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import { createLoop } from '../../base/worker.ts'
import type { LogAgreement } from './agreement.ts'
import type { LogGuard } from './log-guard.ts'
import type { HostIdentity } from './memory/host-identity.ts'
import type { LogMemories } from './memory/memories.ts'
import { readOnly } from './standing.ts'

export type LogWatch = ReturnType<typeof createLogWatch>

interface LogWatchOptions {
  readonly logGuard: LogGuard
  readonly logAgreement: Pick<LogAgreement, 'leave'>
  readonly logMemories: Pick<LogMemories, 'sync'>
  readonly hostIdentity: Pick<HostIdentity, 'begin'>
  readonly logger: Pick<FastifyBaseLogger, 'error'>
}

const EVERY_MS = 1000
const WHILE_WAITING_MS = 250
/** Then this host listens, serves reads, and says at `/readyz` what it waits for: a witness may be silent for long. */
const LONGEST_BEGINNING_MS = 2000
/** Of commands: by then the hosts that ran have compared, or are given up. */
export const LONGEST_WAIT_MS = 25_000

export function createLogWatch({ logGuard, logAgreement, logMemories, hostIdentity, logger }: LogWatchOptions) {
  const worker = createLoop(
    async () => {
      // In an outage of the database no host signs.
      await logGuard.maySign().catch((error) => logger.error({ err: error }, 'cannot compare the log'))
      await logMemories.sync()
      return logGuard.isWaiting() ? WHILE_WAITING_MS : EVERY_MS
    },
    {
      firstMs: EVERY_MS,
      // Learns what others signed last, which tells later that this host signed no more. Without that it leaves, too.
      end: () =>
        logGuard
          .examine()
          .catch(() => {})
          .then(() => logAgreement.leave())
          .catch(() => {}),
    },
  )

  return {
    ...worker,
    /** Examines the log, and waits a while for those that this host asks: other hosts answer within a second. */
    async begin(): Promise<void> {
      hostIdentity.begin()
      await Promise.race([
        examineWhileWaiting(logGuard, LONGEST_BEGINNING_MS),
        setTimeout(LONGEST_BEGINNING_MS, undefined, { ref: false }),
      ])
    },
  }
}

/** Call it in a command that signs or erases: it may do so where a host would. @throws ServiceError `read_only` where none would */
export async function requireSigning(logGuard: LogGuard): Promise<void> {
  await examineWhileWaiting(logGuard, LONGEST_WAIT_MS)
  const problem = logGuard.problem()
  if (problem !== undefined) throw readOnly(problem)
}

/** Examines the log until the hosts that this one waits for have answered, or the time is over. */
export async function examineWhileWaiting(logGuard: LogGuard, longestMs: number): Promise<void> {
  for (const end = performance.now() + longestMs; ; await setTimeout(WHILE_WAITING_MS)) {
    await logGuard.examine()
    if (!logGuard.isWaiting() || performance.now() > end) return
  }
}
