/** Finds secrets in what a plugin says: in facts, errors, logs and probe results, as they are or in their usual encodings. */
import { hash, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { codesOf, type Needle, needlesOf, SEPARATOR, spellings } from './secret-spellings.ts'

/** Holds hashes of the secrets, not the secrets. */
export interface LeakFinder {
  isIn(text: string): boolean
  /** Whether a text, number or name anywhere in a JSON object holds a secret. Its own members' names are its form's, and not searched. */
  isInValue(value: object): boolean
  /** The text without the secrets in it. One that holds a secret behind escapes is replaced as a whole. */
  redact(text: string): string
  readonly sought: readonly SoughtNeedle[]
}

/** A needle of which only hashes are kept. */
export interface SoughtNeedle extends Pick<Needle, 'where'> {
  readonly length: number
  /** So many characters at its beginning have the hash `start`. */
  readonly width: number
  readonly start: number
  readonly digest: string
}

export const REDACTED = '[secret]'

const WIDTH = 8
const KEY = randomBytes(16).toString('hex')
const FACTOR = randomBytes(4).readUInt32LE() | 1

/** Prepared finders, by a hash of their secrets: checks of one connection follow each other. */
const finders = new LRUCache<string, LeakFinder>({ max: 1000 })

export function leakFinder(secrets: readonly string[]): LeakFinder {
  if (secrets.length === 0) return NOTHING
  const name = digestOf(JSON.stringify(secrets))
  const known = finders.get(name)
  if (known) return known
  const finder = finderOf([...new Set(secrets)].flatMap(needlesOf).map(seek))
  finders.set(name, finder)
  return finder
}

function seek({ text, where }: Needle): SoughtNeedle {
  const width = Math.min(WIDTH, text.length)
  let start = 0
  for (let at = 0; at < width; at++) start = (Math.imul(start, FACTOR) + text.charCodeAt(at)) | 0
  return { where, length: text.length, width, start, digest: digestOf(text) }
}

function digestOf(text: string): string {
  return hash('sha256', KEY + text, 'base64')
}

/** Finds any of many needles in one walk through a text, whatever their number: by the rolling hash of their beginnings. */
export function finderOf(sought: readonly SoughtNeedle[]): LeakFinder {
  const tables = [...new Set(sought.map(({ width }) => width))].map((width) =>
    createTable(
      width,
      sought.filter((needle) => needle.width === width),
    ),
  )

  /** Calls `found` for each needle, until it says that this is enough. */
  function search(text: Uint16Array, found: (from: number, to: number) => boolean): boolean {
    return tables.some((table) => table.search(text, found))
  }

  const isIn = (text: string) => spellings(text).some((spelling) => search(spelling, () => true))
  return {
    sought,
    isIn,
    isInValue: (value) => {
      const texts: string[] = []
      for (const member of Object.values(value)) collect(member, texts)
      return isIn(texts.join(SEPARATOR))
    },
    redact(text) {
      const found: (readonly [from: number, to: number])[] = []
      search(codesOf(text), (from, to) => {
        found.push([from, to])
        return false
      })
      const rest = without(text, found)
      return isIn(rest) ? REDACTED : rest
    },
  }
}

const NOTHING: LeakFinder = { sought: [], isIn: () => false, isInValue: () => false, redact: (text) => text }

interface Table {
  search(text: Uint16Array, found: (from: number, to: number) => boolean): boolean
}

function createTable(width: number, sought: readonly SoughtNeedle[]): Table {
  const byStart = new Map<number, SoughtNeedle[]>()
  for (const needle of sought) byStart.set(needle.start, [...(byStart.get(needle.start) ?? []), needle])
  // Most positions are no beginning of a needle: a bit says so without a look into the map.
  const bits = Math.max(10, Math.ceil(Math.log2(sought.length * 64)))
  const mayStart = new Uint8Array(1 << bits)
  const shift = 32 - bits
  for (const start of byStart.keys()) mayStart[start >>> shift] = 1
  let leaving = 1
  for (let at = 1; at < width; at++) leaving = Math.imul(leaving, FACTOR)

  return {
    search(text, found) {
      let start = 0
      for (let at = 0; at < text.length; at++) {
        if (at >= width) start = (start - Math.imul(text[at - width]!, leaving)) | 0
        start = (Math.imul(start, FACTOR) + text[at]!) | 0
        if (mayStart[start >>> shift] === 0 || at < width - 1) continue
        const from = at - width + 1
        for (const needle of byStart.get(start) ?? []) {
          const to = from + needle.length
          if (to > text.length || !stands(text, from, to, needle.where)) continue
          if (digestOf(String.fromCharCode(...text.subarray(from, to))) === needle.digest && found(from, to))
            return true
        }
      }
      return false
    },
  }
}

const WORD = /[\p{L}\p{N}]/u

function stands(text: Uint16Array, from: number, to: number, where: Needle['where']): boolean {
  if (where === 'anywhere') return true
  const [before, after] = [from - 1, to].map((at) =>
    text[at] === undefined ? SEPARATOR : String.fromCharCode(text[at]),
  )
  if (where === 'value') return before === SEPARATOR && after === SEPARATOR
  return !WORD.test(before!) && !WORD.test(after!)
}

function without(text: string, found: (readonly [from: number, to: number])[]): string {
  let rest = ''
  let end = 0
  for (const [from, to] of found.sort(([one], [other]) => one - other)) {
    if (from >= end) rest += text.slice(end, from) + REDACTED
    end = Math.max(end, to)
  }
  return rest + text.slice(end)
}

function collect(value: unknown, texts: string[]): void {
  if (typeof value === 'string' || typeof value === 'number') texts.push(String(value))
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) texts.push(...Object.keys(value))
  for (const item of Object.values(value)) collect(item, texts)
}
