/** Texts of a declaration with parts in braces, such as `{option.tenant}`. */
import type { NamedOption } from './scheme.ts'

export const OPTION = 'option.'
const PART = /\{([a-z]+(?:\.[A-Za-z0-9_]+)?)\}/g

export function namesIn(text: string): string[] {
  return [...text.matchAll(PART)].map(([, part]) => part!)
}

/** What others may see of what is filled in: no secrets. */
export function shownOptionsIn(texts: readonly string[]): NamedOption[] {
  return [...new Set(texts.flatMap(namesIn))]
    .filter((part) => part.startsWith(OPTION))
    .map((part) => ({ name: part.slice(OPTION.length), isSecret: false }))
}

export function filled(text: string, read: (part: string, at: number) => string): string {
  return text.replace(PART, (_, part: string, at: number) => read(part, at))
}
