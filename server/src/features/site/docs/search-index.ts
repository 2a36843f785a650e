/** The index for a search in the browser: the sections of all pages, and the sections of each word. */
import type { Section } from './markdown.tsx'

export interface SearchIndex {
  /** The pages, each with its address and its title. */
  readonly pages: readonly (readonly [href: string, title: string])[]
  /** The sections, each with the number of its page, its heading, the heading's id, and the beginning of its text. */
  readonly sections: readonly (readonly [page: number, heading: string, id: string, begins: string])[]
  /** The numbers of the sections that have a word, by the word. */
  readonly words: Readonly<Record<string, readonly number[]>>
}

interface Indexed {
  readonly href: string
  readonly title: string
  readonly sections: readonly Section[]
}

const SHOWN_LENGTH = 110

export function searchIndex(pages: readonly Indexed[]): SearchIndex {
  const all = pages.flatMap(({ sections }, page) => sections.map((section) => ({ ...section, page })))
  const words = new Map<string, number[]>()
  for (const [number, { heading, text }] of all.entries()) {
    for (const word of new Set(wordsOf(`${heading.text} ${text}`)))
      words.set(word, [...(words.get(word) ?? []), number])
  }
  return {
    pages: pages.map(({ href, title }) => [href, title]),
    sections: all.map(({ page, heading, text, prose }) => [
      page,
      heading.text,
      heading.level === 1 ? '' : heading.id,
      begin(prose || text),
    ]),
    words: Object.fromEntries([...words].toSorted()),
  }
}

/** Matches numbers and hashes of examples, which are no search terms. */
const VALUE = /^[\d.-]*$|(?=.*\d)^[0-9a-z_-]{16,}$/

/** Lists the words of a text. Names with dots and underscores count as a whole and in their parts. */
export function wordsOf(text: string): string[] {
  const names = text.toLowerCase().match(/[\p{L}\p{N}]+(?:[._-][\p{L}\p{N}]+)*/gu) ?? []
  return names
    .flatMap((name) => [name, ...name.split(/[._-]/)])
    .filter((word) => word.length > 1 && word.length <= 40 && !VALUE.test(word))
}

function begin(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length <= SHOWN_LENGTH ? line : `${line.slice(0, SHOWN_LENGTH).replace(/\s\S*$/, '')}…`
}
