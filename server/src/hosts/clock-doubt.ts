/** Whether this host's clock is to be doubted: all listed places that it heard from lately disagree with it, in the same direction. */
import type { Instant, Readings } from '@claimcheck/core'
import type { FastifyBaseLogger } from 'fastify'

export interface ClockDoubt {
  /** A listed place has answered. */
  heard(place: string, readings: Pick<Readings, 'ahead' | 'isUndated'>): void
  /** Checks count as unread while it is. */
  isDoubted(): boolean
}

interface ClockDoubtOptions {
  readonly now: () => Instant
  readonly logger: Pick<FastifyBaseLogger, 'error' | 'info'>
}

const LARGEST_DIFFERENCE_MS = 30_000
/** What a place said longer ago counts no more. */
const REMEMBERED_MS = 10 * 60_000

/** Which way a place's clock is off for certain: 1 when it is ahead of ours, -1 when it is behind. */
type Direction = 1 | 0 | -1

export function createClockDoubt({ now, logger }: ClockDoubtOptions): ClockDoubt {
  const heard = new Map<string, { readonly at: Instant; readonly direction: Direction }>()
  let isDoubted = false

  function judge(): boolean {
    for (const [place, { at }] of heard) if (Math.abs(now() - at) > REMEMBERED_MS) heard.delete(place)
    const directions = new Set([...heard.values()].map(({ direction }) => direction))
    const doubted = directions.size === 1 && !directions.has(0)
    if (doubted !== isDoubted) {
      const fields = { places: [...heard.keys()] }
      if (doubted) logger.error(fields, 'the clock of this host is off: checks count as unread until that ends')
      else logger.info(fields, 'the clock of this host is right again')
    }
    isDoubted = doubted
    return doubted
  }

  return {
    heard(place, { ahead, isUndated }) {
      if (ahead && !isUndated) heard.set(place, { at: now(), direction: directionOf(ahead) })
    },
    isDoubted: judge,
  }
}

function directionOf({ least, most }: NonNullable<Readings['ahead']>): Direction {
  if (least > LARGEST_DIFFERENCE_MS) return 1
  return most < -LARGEST_DIFFERENCE_MS ? -1 : 0
}
