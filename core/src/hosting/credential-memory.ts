/** What the host keeps for the credentials of connections: tokens, and what a destination said of its challenges and its clock. */
import type { Instant } from '../evidence.ts'
import type { CredentialMemory } from './schemes/scheme.ts'

export type { CredentialMemory }

const MAX_ENTRIES = 256
const MAX_MEMORIES = 10_000

export function createCredentialMemory(now: () => Instant): CredentialMemory {
  const entries = new Map<string, { readonly value: string; readonly until: Instant }>()
  const running = new Map<string, Promise<unknown>>()
  return {
    get(key) {
      const entry = entries.get(key)
      if (entry && entry.until > now()) return entry.value
      entries.delete(key)
      return undefined
    },
    set(key, value, until) {
      entries.delete(key)
      entries.set(key, { value, until })
      if (entries.size > MAX_ENTRIES) entries.delete(entries.keys().next().value!)
    },
    delete: (key) => void entries.delete(key),
    once<T>(key: string, work: () => Promise<T>) {
      const known = running.get(key) as Promise<T> | undefined
      if (known) return known
      const begun = work().finally(() => running.delete(key))
      running.set(key, begun)
      return begun
    },
  }
}

/** @returns the memory of a connection. @param key names the connection with its current credentials */
export function createCredentialMemories(now: () => Instant): (key: string) => CredentialMemory {
  const memories = new Map<string, CredentialMemory>()
  return (key) => {
    const memory = memories.get(key) ?? createCredentialMemory(now)
    memories.delete(key)
    memories.set(key, memory)
    if (memories.size > MAX_MEMORIES) memories.delete(memories.keys().next().value!)
    return memory
  }
}
