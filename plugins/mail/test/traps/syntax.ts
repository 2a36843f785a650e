/** Reads the arguments of IMAP commands, and the searches that they write, as RFC 3501 has them. */
import type { Message } from './account.ts'

/** An argument: a text, or a list in parentheses. An atom is told from a quoted text. */
export type Argument = { readonly text: string; readonly isAtom: boolean } | { readonly list: readonly Argument[] }

export class BadCommand extends Error {}

const TOKEN = /^(?:"((?:[^"\\]|\\["\\])*)"|([()])|((?:[^\s()"[\]]|\[[^\]]*\](?:<[\d.]+>)?)+))/

/** @throws BadCommand for what is no list of arguments */
export function readArguments(text: string): readonly Argument[] {
  const open: Argument[][] = [[]]
  let rest = text
  while (rest !== '') {
    const [whole, quoted, bracket, atom] = TOKEN.exec(rest) ?? []
    if (whole === undefined) throw new BadCommand('Invalid arguments')
    rest = rest.slice(whole.length)
    const isSpaced = rest === '' || rest.startsWith(' ') || rest.startsWith(')') || bracket === '('
    if (!isSpaced) throw new BadCommand('Missing space')
    if (bracket === '(') open.push([])
    else if (bracket === ')') closeList(open)
    else open.at(-1)!.push({ text: atom ?? quoted!.replaceAll(/\\(.)/g, '$1'), isAtom: atom !== undefined })
    rest = rest.replace(/^ /, '')
  }
  if (open.length !== 1) throw new BadCommand('Missing )')
  return open[0]!
}

function closeList(open: Argument[][]): void {
  const list = open.pop()
  if (!list || open.length === 0) throw new BadCommand('Unexpected )')
  open.at(-1)!.push({ list })
}

export function textOf(argument: Argument | undefined): string {
  if (argument === undefined || 'list' in argument) throw new BadCommand('Expected a text')
  return argument.text
}

/** The numbers of a set such as `4,7:9,12:*`. `*` is the largest, and a range has its ends in any order. */
export function numbersIn(set: string, largest: number): (number: number) => boolean {
  if (!/^(?:\d+|\*)(?::(?:\d+|\*))?(?:,(?:\d+|\*)(?::(?:\d+|\*))?)*$/.test(set)) throw new BadCommand('Invalid set')
  const ranges = set.split(',').map((part) => {
    const [one, other = one] = part.split(':').map((end) => (end === '*' ? largest : Number(end))) as [number, number?]
    return [Math.min(one, other), Math.max(one, other)] as const
  })
  return (number) => ranges.some(([from, to]) => from <= number && number <= to)
}

/** Unfolds a header: name and value of each field. */
export function fieldsOf(header: string): readonly (readonly [name: string, value: string, raw: string])[] {
  return header.split(/\r\n(?![ \t])/).flatMap((raw) => {
    const [, name, value] = /^([!-9;-~]+)[ \t]*:([\s\S]*)$/.exec(raw) ?? []
    return name === undefined ? [] : [[name.toLowerCase(), value!.replaceAll('\r\n', ''), raw] as const]
  })
}

/** How a server compares a header with what is searched in it. */
export type SearchStyle = 'substring' | 'whole' | 'nothing'

interface Searched {
  readonly message: Message
  readonly sequence: number
  readonly largest: { readonly uid: number; readonly sequence: number }
}

type Test = (searched: Searched) => boolean

export interface SearchRules {
  readonly style: SearchStyle
  readonly hasSaveDates: boolean
  /** The server's clock, in milliseconds; undefined without WITHIN (RFC 5032). */
  readonly now: number | undefined
  /** The time of a message as the server tells it. */
  readonly internalDate: (message: Message) => number
}

/** Compiles a search. @throws BadCommand for a key that the server does not know */
export function readSearch(given: readonly Argument[], rules: SearchRules): Test {
  const keys = [...given]
  const tests: Test[] = []
  while (keys.length > 0) tests.push(readKey(keys, rules))
  if (tests.length === 0) throw new BadCommand('Missing search key')
  return (searched) => tests.every((test) => test(searched))
}

const FLAGS: Readonly<Record<string, string>> = {
  ANSWERED: '\\Answered',
  DELETED: '\\Deleted',
  DRAFT: '\\Draft',
  FLAGGED: '\\Flagged',
  SEEN: '\\Seen',
}
const DAY = 24 * 60 * 60_000
const ADDRESSED = new Set(['FROM', 'TO', 'CC', 'BCC', 'SUBJECT'])

function readKey(keys: Argument[], rules: SearchRules): Test {
  const first = keys.shift()!
  if ('list' in first) return readSearch(first.list, rules)
  const key = first.text.toUpperCase()
  if (/^[\d*]/.test(key)) return ({ sequence, largest }) => numbersIn(key, largest.sequence)(sequence)
  if (Object.hasOwn(FLAGS, key)) return ({ message }) => message.flags.includes(FLAGS[key]!)
  if (key.startsWith('UN') && Object.hasOwn(FLAGS, key.slice(2)))
    return ({ message }) => !message.flags.includes(FLAGS[key.slice(2)]!)
  if (ADDRESSED.has(key)) return headerTest(key, textOf(keys.shift()), rules)
  return readOtherKey(key, keys, rules)
}

function readOtherKey(key: string, keys: Argument[], rules: SearchRules): Test {
  const next = () => {
    if (keys.length === 0) throw new BadCommand(`Missing argument of ${key}`)
    return readKey(keys, rules)
  }
  switch (key) {
    case 'ALL':
      return () => true
    case 'NOT': {
      const test = next()
      return (searched) => !test(searched)
    }
    case 'OR': {
      const [one, other] = [next(), next()]
      return (searched) => one(searched) || other(searched)
    }
    case 'UID': {
      const set = textOf(keys.shift())
      return ({ message, largest }) => numbersIn(set, largest.uid)(message.uid)
    }
    case 'HEADER': {
      const name = textOf(keys.shift())
      return headerTest(name, textOf(keys.shift()), rules)
    }
    case 'YOUNGER':
    case 'OLDER':
      return ageTest(key, textOf(keys.shift()), rules)
    case 'TEXT': {
      const text = textOf(keys.shift()).toLowerCase()
      return ({ message }) => `${message.header}${message.body}`.toLowerCase().includes(text)
    }
    default:
      return dateTest(key, textOf(keys.shift()), rules)
  }
}

function headerTest(name: string, text: string, { style }: SearchRules): Test {
  const sought = text.toLowerCase()
  const isIn = (value: string) => {
    if (style === 'nothing') return false
    const has = value.toLowerCase()
    return style === 'substring'
      ? has.includes(sought)
      : has.replaceAll(/[<>\s]/g, '') === sought.replaceAll(/[<>\s]/g, '')
  }
  return ({ message }) => fieldsOf(message.header).some(([field, value]) => field === name.toLowerCase() && isIn(value))
}

/** YOUNGER and OLDER count whole seconds of the server's clock, to which times of messages have whole seconds, too. */
function ageTest(key: string, text: string, { now, internalDate }: SearchRules): Test {
  if (now === undefined) throw new BadCommand(`Unknown argument ${key}`)
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new BadCommand('Invalid interval')
  const limit = Math.floor(now / 1000) - Number(text)
  const isYoung = (message: Message) => Math.floor(internalDate(message) / 1000) >= limit
  return ({ message }) => isYoung(message) === (key === 'YOUNGER')
}

function dateTest(key: string, text: string, { hasSaveDates }: SearchRules): Test {
  const day = Date.parse(`${text} UTC`)
  const [, prefix, kind] = /^(SENT|SAVED)?(SINCE|BEFORE|ON)$/.exec(key) ?? []
  if (kind === undefined || (prefix === 'SAVED' && !hasSaveDates)) throw new BadCommand(`Unknown argument ${key}`)
  if (Number.isNaN(day) || !/^\d{1,2}-[A-Z][a-z]{2}-\d{4}$/.test(text)) throw new BadCommand('Invalid date')
  return ({ message }) => {
    const own = prefix === 'SENT' ? sentAt(message) : message.internalDate
    const at = prefix === 'SAVED' ? message.savedAt : own
    if (kind === 'SINCE') return at >= day
    return kind === 'BEFORE' ? at < day : at >= day && at < day + DAY
  }
}

function sentAt({ header, internalDate }: Message): number {
  const date = Date.parse(fieldsOf(header).find(([name]) => name === 'date')?.[1] ?? '')
  return Number.isNaN(date) ? internalDate : date
}
