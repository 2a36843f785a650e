/** What the host keeps for the credentials of connections: tokens, and what a destination said of its challenges and its clock. */
import type { Instant } from '../evidence.ts'
import type { CredentialMemory } from './schemes/scheme.ts'

export type { CredentialMemory }

interface Entry {
  readonly value: string
  readonly until: Instant
}

/** A destination could give a long token for each of its repositories. */
const MOST_CHARACTERS = 64 * 1024 * 1024

/**
 * @returns the memory of a connection. All share the room for `mostCharacters`, and what was used longest ago is forgotten first.
 * @param key names the connection with its current credentials, and the origin that it reads
 */
export function createCredentialMemories(
  now: () => Instant,
  mostCharacters = MOST_CHARACTERS,
): (key: string) => CredentialMemory {
  const entries = new Map<string, Entry>()
  const running = new Map<string, Promise<unknown>>()
  let characters = 0

  function keep(name: string, entry: Entry): void {
    entries.set(name, entry)
    characters += name.length + entry.value.length
    while (characters > mostCharacters) take(entries.keys().next().value!)
  }

  function take(name: string): Entry | undefined {
    const entry = entries.get(name)
    if (!entry) return undefined
    entries.delete(name)
    characters -= name.length + entry.value.length
    return entry
  }

  return (connection) => {
    const nameOf = (key: string) => `${connection} ${key}`
    return {
      get(key) {
        const entry = take(nameOf(key))
        if (!entry || entry.until <= now()) return undefined
        keep(nameOf(key), entry)
        return entry.value
      },
      set(key, value, until) {
        take(nameOf(key))
        keep(nameOf(key), { value, until })
      },
      delete: (key) => void take(nameOf(key)),
      once<T>(key: string, work: () => Promise<T>) {
        const known = running.get(nameOf(key)) as Promise<T> | undefined
        if (known) return known
        const begun = work().finally(() => running.delete(nameOf(key)))
        running.set(nameOf(key), begun)
        return begun
      },
    }
  }
}
