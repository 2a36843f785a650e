/** The usual name of a connection without a given one: its kind, and what distinguishes it from others of its kind. */

import { parseUrl } from '@claimcheck/core/plugin'
import type { JsonObject, JsonValue } from '@claimcheck/core/rules'

const MOST_NAMES = 3

/**
 * Makes the usual name of a connection, such as "GitHub, acme" or "Mailbox".
 * @param options the options that are not secret
 */
export function usualName(title: string, options: JsonObject): string {
  const values = Object.values(options)
  const names = values.flatMap(namesIn)
  return [title, ...(names.length > 0 ? names : values.flatMap(hostsIn))].join(', ')
}

/** Finds lists of names, such as those of owners. */
function namesIn(value: JsonValue): string[] {
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) return []
  const more = value.length - MOST_NAMES
  return more > 0 ? [...value.slice(0, MOST_NAMES), `${more} more`] : [...value]
}

function hostsIn(value: JsonValue): string[] {
  const host = typeof value === 'string' ? parseUrl(value)?.host : undefined
  return host ? [host] : []
}
