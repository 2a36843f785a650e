/** Finds secrets in facts, errors, logs and probe results of plugins, as they are or in their usual encodings. */
import { hash, randomBytes } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { type Needle, needlesOf, SEPARATOR, spellings } from './secret-spellings.ts'

/** A finder of secrets, which holds only their hashes. */
export interface LeakFinder {
  isIn(text: string): boolean
  /** Tells whether a text, number or name anywhere in a JSON object holds a secret. The names of its own members belong to its form, and are not searched. */
  isInValue(value: object): boolean
  /** Replaces the secrets in a text. A text that holds a secret behind escapes is replaced as a whole. */
  redact(text: string): string
  readonly sought: readonly SoughtNeedle[]
}

/** A secret to search for, kept as its hashes. */
export interface SoughtNeedle extends Pick<Needle, 'where'> {
  readonly length: number
  /** The number of characters at the secret's beginning that have the hash `start`. */
  readonly width: number
  readonly start: number
  readonly digest: string
}

export const REDACTED = '[secret]'

/** The number of characters at a secret's beginning by whose hash it is looked up. */
const WIDTH = 8
const KEY = randomBytes(16).toString('hex')
const FACTOR = randomBytes(4).readUInt32LE() | 1

/** Prepared finders by a hash of their secrets, kept because checks of one connection follow each other. */
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
  return { where, length: text.length, width, start: hashAt(text, 0, width), digest: digestOf(text) }
}

function digestOf(text: string): string {
  return hash('sha256', KEY + text, 'base64')
}

function hashAt(text: string, from: number, width: number): number {
  let sum = 0
  for (let at = from; at < from + width; at++) sum = (Math.imul(sum, FACTOR) + text.charCodeAt(at)) | 0
  return sum
}

/** Makes a finder of all needles in one walk through a text, because a plugin that reads many connections may log a lot. */
export function finderOf(sought: readonly SoughtNeedle[]): LeakFinder {
  if (sought.length === 0) return NOTHING
  const byStart: NeedleIndex = new Map()
  for (const needle of sought) {
    const ofWidth = byStart.get(needle.width) ?? new Map<number, SoughtNeedle[]>()
    byStart.set(needle.width, ofWidth.set(needle.start, [...(ofWidth.get(needle.start) ?? []), needle]))
  }

  const isIn = (text: string) => spellings(text).some((spelling) => search(spelling, byStart, () => true))
  return {
    sought,
    isIn,
    isInValue: (value) => {
      const texts: string[] = []
      for (const member of Object.values(value)) collect(member, texts)
      return isIn(texts.join(SEPARATOR))
    },
    redact(text) {
      const places: (readonly [from: number, to: number])[] = []
      search(text, byStart, (from, to) => {
        places.push([from, to])
        return false
      })
      const rest = without(text, places)
      return isIn(rest) ? REDACTED : rest
    },
  }
}

/** Needles by the length of their hashed beginning, and its hash. */
type NeedleIndex = Map<number, Map<number, SoughtNeedle[]>>

/** Calls `found` for each needle in a text, until it returns that this is enough. A generator would take four times as long. */
function search(text: string, needles: NeedleIndex, found: (from: number, to: number) => boolean): boolean {
  for (const [width, ofWidth] of needles) {
    for (let from = 0; from + width <= text.length; from++) {
      for (const needle of ofWidth.get(hashAt(text, from, width)) ?? NO_NEEDLES) {
        if (isAt(text, from, needle) && found(from, from + needle.length)) return true
      }
    }
  }
  return false
}

const NO_NEEDLES: readonly SoughtNeedle[] = []

const NOTHING: LeakFinder = { sought: [], isIn: () => false, isInValue: () => false, redact: (text) => text }

const WORD = /[\p{L}\p{N}]/u

function isAt(text: string, from: number, { length, where, digest }: SoughtNeedle): boolean {
  const to = from + length
  return stands(text, from, to, where) && digestOf(text.slice(from, to)) === digest
}

function stands(text: string, from: number, to: number, where: Needle['where']): boolean {
  if (to > text.length) return false
  if (where === 'anywhere') return true
  const [before, after] = [text[from - 1] ?? SEPARATOR, text[to] ?? SEPARATOR]
  if (where === 'value') return before === SEPARATOR && after === SEPARATOR
  return !WORD.test(before) && !WORD.test(after)
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
