/** Compares the clock with the log and with listed destinations: at the start, and as a worker while the time is in doubt. */
import { readAnswer } from '@claimcheck/core/hosting'
import type { FastifyBaseLogger } from 'fastify'
import { ServiceError } from '../../base/errors.ts'
import { createLoop, type Worker } from '../../base/worker.ts'
import type { Clock } from '../../clock/clock.ts'
import type { Outbound } from '../../outbound/outbound.ts'
import type { Storage } from '../../storage/storage.ts'

export interface ClockWatch extends Worker {
  /**
   * Compares with the newest time in the log, and with the destinations that the configuration file lists. One that does not answer soon
   * says nothing. @returns the doubt, if any
   */
  compare(): Promise<string | undefined>
  /** For what dates the log: a wrong time would stay. @throws ServiceError `unavailable` while the time is in doubt */
  requireTime(): Promise<void>
}

interface ClockWatchOptions {
  readonly clock: Pick<Clock, 'now' | 'doubt' | 'heard' | 'logged' | 'turn' | 'isSuspected'>
  readonly storage: Pick<Storage, 'read'>
  readonly outbound: Pick<Outbound, 'request'>
  readonly config: {
    /** By provider, listed addresses. */
    readonly sources: Readonly<Record<string, readonly string[]>>
    /** Those that the operator configured. */
    readonly configuredSources: readonly string[]
  }
  readonly logger: Pick<FastifyBaseLogger, 'error' | 'info'>
}

interface Pauses {
  readonly lookMs: number
  /** Between questions to one destination. */
  readonly askMs: number
}

const PAUSES: Pauses = { lookMs: 1000, askMs: 10_000 }
const ANSWER_MS = 3000
/** More than some tell nothing more. */
const MOST_ASKED = 5

export function createClockWatch(
  { clock, storage, outbound, config, logger }: ClockWatchOptions,
  { lookMs, askMs }: Pauses = PAUSES,
): ClockWatch {
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
      // One that does not answer says nothing.
    }
  }

  async function askAll(urls: readonly string[], stopping?: AbortSignal): Promise<void> {
    const origins = originsOf(urls).slice(0, MOST_ASKED)
    await Promise.all(origins.map((origin) => ask(origin, stopping)))
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

  async function compare(): Promise<string | undefined> {
    const [log] = await Promise.all([storage.read.log.state(), askAll(config.configuredSources)])
    if (log) clock.logged(log.issuedAt)
    return clock.doubt()
  }

  return {
    compare,
    async requireTime() {
      const doubt = await compare()
      if (doubt !== undefined) throw new ServiceError('unavailable', `the time is in doubt: ${doubt}`)
    },
    ...createLoop(round),
  }
}

/** Each once. A socket's address answers no HTTP. */
function originsOf(urls: readonly string[]): readonly string[] {
  return [...new Set(urls.map((url) => new URL(url).origin).filter((origin) => origin.startsWith('http')))]
}
