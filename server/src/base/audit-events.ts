/** The events of the audit trail. Each feature names its events, and the words for them; the first part of a name is its group. */

/** `key.created`. */
export type AuditEvent = `${string}.${string}`

/** By event, what completes "ACTOR ...": what was done. */
export type AuditWords = Readonly<Record<AuditEvent, string>>

/** The words; an event of another version is shown by its name. */
export function auditEventWords(words: AuditWords, event: string): string {
  return Object.hasOwn(words, event) ? words[event as AuditEvent]! : event
}

export function auditGroupOf(event: string): string {
  return event.split('.')[0]!
}

/** In the order of the alphabet. */
export function auditGroups(words: AuditWords): readonly string[] {
  return [...new Set(Object.keys(words).map(auditGroupOf))].sort()
}

export function eventsOfGroup(words: AuditWords, group: string): readonly string[] {
  return Object.keys(words).filter((event) => auditGroupOf(event) === group)
}

/** A heading for a group: `signing_key` is `Signing key`. */
export function auditGroupWords(group: string): string {
  const words = group.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
