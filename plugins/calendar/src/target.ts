/** Reads targets, `caldav:HOST/PATH` and `google:CALENDAR`, and brings claims into one form. */
import { type Claim, DestinationError } from '@claimcheck/core/plugin'
import type { Params } from './profile.ts'

export type Place =
  | { readonly kind: 'caldav'; readonly host: string; readonly path: string }
  | { readonly kind: 'google'; readonly calendar: string }

/** Reads the target of a claim, in its one form. @throws DestinationError `unsupported_target` for a path whose escapes mean no text */
export function placeOf(target: string): Place {
  const calendar = /^google:(.*)$/.exec(target)?.[1]
  if (calendar !== undefined) return { kind: 'google', calendar: calendar.toLowerCase() }
  const [, host = '', written = ''] = /^caldav:([^/]*)(\/.*)$/.exec(target) ?? []
  const path = normalizePath(written)
  if (path === undefined) throw new DestinationError('unsupported_target')
  return { kind: 'caldav', host: host.toLowerCase().replace(/:443$/, ''), path }
}

const UNRESERVED = /^[A-Za-z0-9._~-]$/

/**
 * Writes a path in one form: without slashes at its end, escapes of characters that need none decoded, all others in upper case. @returns
 * undefined for escapes that are no UTF-8, or hide a slash or a dot segment
 */
export function normalizePath(path: string): string | undefined {
  const normal = path.replace(/%([0-9a-f]{2})/gi, (written, pair: string) => {
    const letter = String.fromCharCode(Number.parseInt(pair, 16))
    return UNRESERVED.test(letter) ? letter : written.toUpperCase()
  })
  try {
    decodeURIComponent(normal)
  } catch {
    return undefined
  }
  const isClear = !/%2F|%5C|%00/.test(normal) && !normal.split('/').some((part) => part === '.' || part === '..')
  return isClear ? normal.replace(/\/+$/, '') : undefined
}

/** @throws DestinationError `unsupported_target` for a claim that no calendar can be asked for */
export function normalize({ target, params }: { target: string; params: Params }) {
  const place = placeOf(target)
  const { start, end, ...ids } = params
  const written = place.kind === 'google' ? `google:${place.calendar}` : `caldav:${place.host}${place.path}`
  return {
    target: written,
    params: {
      ...ids,
      ...(start !== undefined && { start: normalizeTime(start, 'start') }),
      ...(end !== undefined && { end: normalizeTime(end, 'end') }),
    },
  }
}

function normalizeTime(text: string, param: 'start' | 'end'): string {
  const isDate = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/.test(text)
  const at = Date.parse(text.toUpperCase())
  const day = Date.parse(text.slice(0, 10))
  // Date.parse takes the 31st of a shorter month for a day of the next one.
  const isReal = !Number.isNaN(at) && !Number.isNaN(day) && new Date(day).toISOString().startsWith(text.slice(0, 10))
  if (!isReal) throw new DestinationError('unsupported_target', { param })
  return isDate ? text : new Date(at).toISOString()
}

/** Refuses a claim that lacks the id by which its calendar finds events. @throws DestinationError `unsupported_target` */
export function requireIds({ target, params: { uid, event_id } }: Pick<Claim<Params>, 'target' | 'params'>): void {
  const isGoogle = placeOf(target).kind === 'google'
  if (!isGoogle && event_id !== undefined) throw new DestinationError('unsupported_target', { param: 'event_id' })
  if (uid === undefined && !(isGoogle && event_id !== undefined))
    throw new DestinationError('unsupported_target', { param: 'uid' })
}
