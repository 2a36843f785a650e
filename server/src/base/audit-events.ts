/** The events of the audit trail. Each feature names its events, and the words for them; the first part of a name is its group. */

/** An event's name, such as `key.created`: its group, a dot, and what happened. */
export type AuditEvent = `${string}.${string}`

/** Phrases that complete "ACTOR ..." with what was done, by event. */
export type AuditWords = Readonly<Record<AuditEvent, string>>

/** Finds the words for an event. An event of another version is shown by its name. */
export function auditEventWords(words: AuditWords, event: string): string {
  return Object.hasOwn(words, event) ? words[event as AuditEvent]! : event
}

export function auditGroupOf(event: string): string {
  return event.split('.')[0]!
}

/** Lists the groups of events in alphabetical order. */
export function auditGroups(words: AuditWords): readonly string[] {
  return [...new Set(Object.keys(words).map(auditGroupOf))].sort()
}

export function eventsOfGroup(words: AuditWords, group: string): readonly string[] {
  return Object.keys(words).filter((event) => auditGroupOf(event) === group)
}

/** Makes a heading from a group's name: `signing_key` becomes `Signing key`. */
export function auditGroupWords(group: string): string {
  const words = group.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}
