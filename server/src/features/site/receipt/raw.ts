/** The documents of a bundle with their titles, for those who want to read them as they are. */
import type { Bundle } from '@claimcheck/core/receipts'

const TITLES: readonly (readonly [keyof Bundle, string])[] = [
  ['receipt', 'The receipt'],
  ['evidence', 'The evidence'],
  ['keys', 'The keys of the issuer'],
  ['tree_head', 'The signed tree head'],
  ['consistency', 'The consistency proof'],
]

export function rawDocuments(bundle: Bundle): readonly (readonly [title: string, text: string])[] {
  return TITLES.flatMap(([name, title]) => {
    const text = bundle[name]
    return text === undefined ? [] : [[title, text] as const]
  })
}
