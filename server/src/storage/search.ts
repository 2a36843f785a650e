/** A search in columns of text, by LIKE. */
import { isAscii } from 'node:buffer'

/** The databases know the cases of ASCII's letters alone. */
export function variantsOf(search: string): readonly string[] {
  return isAscii(Buffer.from(search)) ? [search] : [search, search.toLowerCase(), search.toUpperCase()]
}

/** Anything with this text in it, in which `%` and `_` mean themselves. */
export function patternOf(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}
