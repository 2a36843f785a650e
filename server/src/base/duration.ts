/** Lengths of time as people write them: `90d`, `24h`, `30m`. */
import { ServiceError } from './errors.ts'

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 }

/**
 * Reads a length of time, in milliseconds.
 * @throws ServiceError `bad_request`
 */
export function readDuration(text: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([mhd])$/.exec(text.trim()) ?? []
  const unitMs = UNIT_MS[unit]
  if (count === undefined || unitMs === undefined) {
    throw new ServiceError(
      'bad_request',
      `${JSON.stringify(text)} is not a length of time: write it as 30m, 24h or 90d`,
    )
  }
  return Number(count) * unitMs
}
