/** What a connection is called while nobody has named it: by its kind, and by what tells it from others of its kind. */
import type { JsonObject, JsonValue } from '@claimcheck/core'

const MOST_NAMES = 3

/** "GitHub, acme"; "Mailbox". @param options without the secret ones */
export function usualName(title: string, options: JsonObject): string {
  return [title, ...Object.values(options).flatMap(toldBy)].join(', ')
}

/** Names, such as those of owners, and the hosts of addresses. Other options say how it is read, and not what. */
function toldBy(value: JsonValue): string[] {
  if (typeof value === 'string') return URL.canParse(value) ? [new URL(value).host].filter(Boolean) : []
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) return []
  const more = value.length - MOST_NAMES
  return more > 0 ? [...value.slice(0, MOST_NAMES), `${more} more`] : [...value]
}
