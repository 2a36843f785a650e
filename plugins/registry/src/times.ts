/** Reads the times of a registry's record. */
import type { LogTime } from '@claimcheck/core/plugin'

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(?:Z|[+-]\d\d:\d\d)$/

/** Reads a time; undefined for any other text. A time without a fraction means the whole second. */
export function logTime(text: unknown): Required<LogTime> | undefined {
  const [whole, fraction] = (typeof text === 'string' && TIME.exec(text)) || []
  const notBefore = Date.parse(whole ?? '')
  if (Number.isNaN(notBefore)) return undefined
  return { notBefore, notAfter: fraction === undefined ? notBefore + 999 : notBefore }
}
