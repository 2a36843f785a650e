/** The worker that asks listed destinations for the time: as this host starts, and while the time is in doubt. */
import { setTimeout } from 'node:timers/promises'
import { readAnswer } from '@claimcheck/core'
import type { Worker } from '../base/worker.ts'
import type { Config } from '../config/config.ts'
import type { Outbound } from '../outbound/outbound.ts'
import type { Clock } from './clock.ts'

export interface ClockWatch extends Worker {
  /** Asks the destinations that the configuration file lists. What does not answer soon says nothing. */
  compare(): Promise<void>
}

interface ClockWatchOptions {
  readonly clock: Pick<Clock, 'now' | 'doubt' | 'heard'>
  readonly outbound: Pick<Outbound, 'request'>
  readonly config: Pick<Config, 'sources' | 'configuredSources'>
}

interface Pauses {
  readonly lookMs: number
  /** Between questions to one destination. */
  readonly askMs: number
}

const PAUSES: Pauses = { lookMs: 1000, askMs: 10_000 }
const ANSWER_MS = 3000
/** One tells nothing, and more than some tell nothing more. */
const MOST_ASKED = 5

export function createClockWatch(
  { clock, outbound, config }: ClockWatchOptions,
  { lookMs, askMs }: Pauses = PAUSES,
): ClockWatch {
  const stopping = new AbortController()
  let loop: Promise<void> | undefined

  async function ask(origin: string): Promise<void> {
    const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(ANSWER_MS)])
    const sentAt = clock.now()
    try {
      const { headers, body } = await outbound.request(origin, { method: 'HEAD', headers: {}, signal })
      const readings = readAnswer(headers, sentAt, clock.now())
      await body?.cancel()
      if (readings.ageMs === 0) clock.heard(origin, readings)
    } catch {
      // One that does not answer says nothing.
    }
  }

  const askAll = (urls: readonly string[]) => Promise.all(originsOf(urls).slice(0, MOST_ASKED).map(ask))

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const isDoubted = clock.doubt() !== undefined
      if (isDoubted) await askAll([...config.configuredSources, ...Object.values(config.sources).flat()])
      await setTimeout(isDoubted ? askMs : lookMs, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  return {
    async compare() {
      await askAll(config.configuredSources)
    },
    start() {
      loop ??= run()
    },
    async stop() {
      stopping.abort()
      await loop
    },
  }
}

/** Each once. A socket's address answers no HTTP. */
function originsOf(urls: readonly string[]): readonly string[] {
  return [...new Set(urls.map((url) => new URL(url).origin).filter((origin) => origin.startsWith('http')))]
}
