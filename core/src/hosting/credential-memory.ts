/** Memory of the credentials of connections: tokens, and a destination's clock. */
import type { Instant } from '../evidence.ts'
import type { CredentialMemory } from './schemes/scheme.ts'

export type { CredentialMemory }

/** Room for the characters of all memories: a destination could give a long token for each of its repositories. */
const MOST_CHARACTERS = 64 * 1024 * 1024

/**
 * Creates the memories of connections. They share the room for `mostCharacters`, and forget first what was used longest ago.
 *
 * @returns the memory for a key, which names the connection with its current credentials, and the origin that it reads
 */
export function createCredentialMemories(
  now: () => Instant,
  mostCharacters = MOST_CHARACTERS,
): (key: string) => CredentialMemory {
  const entries = new Map<string, { readonly value: string; readonly until: Instant }>()
  const running = new Map<string, Promise<unknown>>()
  let characters = 0

  function keep(name: string, entry: NonNullable<ReturnType<typeof take>>): void {
    entries.set(name, entry)
    characters += name.length + entry.value.length
    while (characters > mostCharacters) take(entries.keys().next().value!)
  }

  function take(name: string) {
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
