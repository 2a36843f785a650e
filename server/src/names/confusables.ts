/** Names that look alike, by the skeletons of UTS 39. */
import { LRUCache } from 'lru-cache'
import { CONFUSABLES, CONFUSABLES_VERSION } from './confusable-table.ts'

/**
 * The version of what `looksOf` returns. It leaves out the Unicode version of Node.js, which refuses characters that it does not know (`names.ts`).
 */
export const LOOKS_VERSION = `${CONFUSABLES_VERSION}/2`

const IGNORED = /\p{Default_Ignorable_Code_Point}/gu
/** Marks that compose with no letter: a line or a dot that is easily missed. Scripts that need marks have marks of their own. */
const LOOSE_MARKS = /\p{Script=Inherited}/gu

const ASCII = /^[\x20-\x7e]*$/
/** The most characters whose looks are remembered, more than names of one installation use. */
const MOST_KNOWN = 10_000

interface Look {
  readonly shape: string
  readonly small: string
}

const looks = new Map<string, Look>()
/** The looks of whole names, remembered because an agent's name is looked at for each of its claims. */
const knownNames = new LRUCache<string, readonly string[]>({ max: MOST_KNOWN })
let prototypes: ReadonlyMap<string, string> | undefined

/** Makes the skeleton of a text, by UTS 39, section 4. */
export function skeleton(text: string): string {
  prototypes ??= readTable()
  let mapped = ''
  for (const character of text.normalize('NFD').replace(IGNORED, '')) mapped += prototypes.get(character) ?? character
  return mapped.normalize('NFD')
}

/**
 * Returns one or two texts for a name. Names that share one look alike, in either case. A capital is taken for what it looks like, and for its small
 * letter; a capital I is both i and l at each place, so that those are one letter.
 */
export function looksOf(name: string): readonly string[] {
  const known = knownNames.get(name)
  if (known) return known
  const found = findLooks(name)
  knownNames.set(name, found)
  return found
}

function findLooks(name: string): readonly string[] {
  const isAscii = ASCII.test(name)
  const letters = isAscii ? name : name.normalize('NFC').replace(LOOSE_MARKS, '').replace(IGNORED, '').normalize('NFD')
  let [shape, small] = ['', '']
  for (const character of letters.replace(/ {2,}/g, ' ')) {
    const look = lookOf(character)
    shape += look.shape
    small += look.small
  }
  if (!isAscii) [shape, small] = [shape.normalize('NFD'), small.normalize('NFD')]
  return [...new Set([shape, small].map((look) => look.replaceAll('i', 'l')))]
}

/** Says how a name differs from one that it looks like: `U+0435 at position 2 is not U+0065 (e)`; undefined for the same name. */
export function differenceOf(name: string, other: string): string | undefined {
  const [given, expected] = [[...name], [...other]]
  const at = given.findIndex((character, index) => character !== expected[index])
  if (at === -1) {
    return given.length === expected.length ? undefined : `${codeOf(expected[given.length]!)} is missing at the end`
  }
  if (expected[at] === undefined) return `${codeOf(given[at]!)} at position ${at + 1} is one character more`
  return `${codeOf(given[at]!)} at position ${at + 1} is not ${codeOf(expected[at])}`
}

/** Finds the first of these names that a name looks like, other than itself. */
export function lookAlike(name: string, others: Iterable<string>): string | undefined {
  const looks = looksOf(name)
  for (const other of others) {
    if (other !== name && looksOf(other).some((look) => looks.includes(look))) return other
  }
  return undefined
}

/** Tells whether a name begins like a text, or with `includes` has any part that looks like it. */
export function isPartlyLike(name: string, text: string, where: 'startsWith' | 'includes'): boolean {
  return looksOf(name).some((look) => looksOf(text).some((part) => look[where](part)))
}

/** Writes a character as its code point, and itself too where it is visible: `U+0435 (е)`. */
function codeOf(character: string): string {
  const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
  return /^[\p{L}\p{N}\p{P}\p{S}]$/u.test(character) ? `U+${code} (${character})` : `U+${code}`
}

function lookOf(character: string): Look {
  const known = looks.get(character)
  if (known) return known
  if (looks.size >= MOST_KNOWN) looks.clear()
  const look = { shape: [...skeleton(character)].map(settled).join(''), small: settled(character) }
  looks.set(character, look)
  return look
}

/** Repeats the skeleton of the small letters until nothing changes: a skeleton may have capitals, and compatible characters. */
function settled(character: string): string {
  const after = skeleton(character.normalize('NFKC').toUpperCase().toLowerCase())
  return after === character
    ? character
    : [...after].map((part) => (part === character ? part : settled(part))).join('')
}

function readTable(): ReadonlyMap<string, string> {
  const groups = CONFUSABLES.trim().split(/\s+/)
  return new Map(
    groups.flatMap((group) => {
      const [to, from] = group.split('=') as [string, string]
      const prototype = to.split('+').map(character).join('')
      return from.split(',').map((code) => [character(code), prototype] as const)
    }),
  )
}

function character(code: string): string {
  return String.fromCodePoint(Number.parseInt(code, 16))
}
