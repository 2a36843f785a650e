/** Compares the clock with the log and with listed destinations: at the start, and as a worker while the time is in doubt. */
import { readAnswer } from '@claimcheck/core/hosting'
import type { FastifyBaseLogger } from 'fastify'
import { ServiceError } from '../../base/errors.ts'
import { createLoop } from '../../base/worker.ts'
import type { Clock } from '../../clock/clock.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { Storage } from '../../storage/storage.ts'

interface ClockWatchParts {
  readonly clock: Pick<Clock, 'now' | 'doubt' | 'heard' | 'logged' | 'turn' | 'isSuspected'>
  readonly storage: Pick<Storage, 'read'>
  readonly outbound: Pick<Outbound, 'request'>
  readonly config: {
    /** Listed addresses by provider. */
    readonly sources: Readonly<Record<string, readonly string[]>>
    /** Addresses that the operator configured. */
    readonly configuredSources: readonly string[]
  }
  readonly logger: Pick<FastifyBaseLogger, 'error' | 'info'>
}

/** The pauses between looks at the clock, and between questions to one destination (`askMs`). */
const PAUSES = { lookMs: 1000, askMs: 10_000 }
const ANSWER_MS = 3000
/** The most destinations that are asked: more tell nothing more. */
const MOST_ASKED = 5

export type ClockWatch = ReturnType<typeof createClockWatch>

export function createClockWatch(
  { clock, storage, outbound, config, logger }: ClockWatchParts,
  { lookMs, askMs } = PAUSES,
) {
  let wasDoubted = false

  async function ask(origin: string, stopping?: AbortSignal): Promise<void> {
    const limit = AbortSignal.timeout(ANSWER_MS)
    const signal = stopping ? AbortSignal.any([stopping, limit]) : limit
    const turn = clock.turn()
    const sentAt = clock.now()
    try {
      const { headers, body } = await outbound.request(origin, { method: 'HEAD', headers: {}, signal })
      const readings = readAnswer(headers, sentAt, clock.now())
      await body?.cancel()
      if (readings.ageMs === 0) clock.heard(origin, readings, turn)
    } catch {
      // A destination without an answer does not count.
    }
  }

  async function askAll(urls: readonly string[], stopping?: AbortSignal): Promise<void> {
    // A socket's address answers no HTTP.
    const origins = new Set(urls.map((url) => new URL(url).origin).filter((origin) => origin.startsWith('http')))
    await Promise.all([...origins].slice(0, MOST_ASKED).map((origin) => ask(origin, stopping)))
  }

  async function round(stopping: AbortSignal): Promise<number> {
    const doubt = clock.doubt()
    const isDoubted = doubt !== undefined
    if (isDoubted && !wasDoubted) logger.error({ doubt }, 'the time is in doubt: this host decides and signs nothing')
    if (!isDoubted && wasDoubted) logger.info('the time is certain again: this host decides and signs')
    wasDoubted = isDoubted
    if (!isDoubted && !clock.isSuspected()) return lookMs
    await askAll([...config.configuredSources, ...Object.values(config.sources).flat()], stopping)
    return askMs
  }

  /**
   * Compares with the newest time in the log, and with the destinations that the configuration file lists. A destination that does not
   * answer soon does not count. @returns the doubt, if any
   */
  async function compare(): Promise<string | undefined> {
    const [log] = await Promise.all([storage.read.log.state(), askAll(config.configuredSources)])
    if (log) clock.logged(log.issuedAt)
    return clock.doubt()
  }

  return {
    compare,
    /**
     * Requires that the time is certain. Call it before anything that dates the log, where a wrong time would stay.
     * @throws ServiceError `unavailable` while the time is in doubt
     */
    async requireTime(): Promise<void> {
      const doubt = await compare()
      if (doubt !== undefined) throw new ServiceError('unavailable', `the time is in doubt: ${doubt}`)
    },
    ...createLoop(round),
  }
}
