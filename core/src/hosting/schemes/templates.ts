/** Texts of a declaration with parts in braces, such as `{option.tenant}`. */
import type { NamedOption } from './scheme.ts'

export const OPTION = 'option.'
const PART = /\{([a-z]+(?:\.[A-Za-z0-9_]+)?)\}/g

export function namesIn(text: string): string[] {
  return [...text.matchAll(PART)].map(([, part]) => part!)
}

/** The options that texts name, none of which may be a secret, because others see what is filled in. */
export function shownOptionsIn(texts: readonly string[]): NamedOption[] {
  return [...new Set(texts.flatMap(namesIn))]
    .filter((part) => part.startsWith(OPTION))
    .map((part) => ({ name: part.slice(OPTION.length), isSecret: false }))
}

export function fillTemplate(text: string, read: (part: string, at: number) => string): string {
  return text.replace(PART, (_, part: string, at: number) => read(part, at))
}
