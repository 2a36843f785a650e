/** Searches in columns of text, by LIKE. */
import { isAscii } from 'node:buffer'

/** Lists the variants of a text to search for: databases know the cases of ASCII's letters alone. */
export function variantsOf(search: string): readonly string[] {
  return isAscii(Buffer.from(search)) ? [search] : [search, search.toLowerCase(), search.toUpperCase()]
}

/** Makes the pattern for any text that contains this one, in which `%` and `_` mean themselves. */
export function patternOf(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`
}
