/** Reads the header of a message (RFC 5322): its fields, the ids in them, and the addresses of recipients. */
import { domainToASCII, domainToUnicode } from 'node:url'
import { endOfQuoted } from './quoted.ts'

/** The fields of a header by their names in lower case, unfolded. */
export type Header = ReadonlyMap<string, readonly string[]>

/** Parses a header. @param text one character for each byte */
export function parseHeader(text: string): Header {
  const fields = new Map<string, string[]>()
  for (const line of text.replaceAll(/\r?\n(?=[ \t])/g, '').split(/\r?\n/)) {
    const [, name, value] = /^([!-9;-~]+)[ \t]*:(.*)$/s.exec(line) ?? []
    if (name === undefined) continue
    const values = fields.get(name.toLowerCase()) ?? []
    values.push(textOf(value!.trim()))
    fields.set(name.toLowerCase(), values)
  }
  return fields
}

function textOf(bytes: string): string {
  return new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)))
}

/**
 * Reads an id such as `<a@b>`, without its brackets and without comments beside them. Some programs fold it, or write it as an encoded word, which
 * no standard allows.
 */
export function readId(value: string): string {
  const text = decodeWords(value)
  const [, before = '', id, behind = ''] = /^([^<>]*)<([^<>]*)>([^<>]*)$/.exec(text) ?? []
  const isAlone = withoutComments(before + behind).trim() === ''
  return (id !== undefined && isAlone ? id : text).replaceAll(/\s/g, '')
}

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/

/** Decodes the encoded words of a text (RFC 2047), and leaves those that are none as they are. */
function decodeWords(value: string): string {
  const joined = value.replaceAll(/\?=\s+=\?/g, '?==?')
  return joined.replaceAll(/=\?(?:utf-8|us-ascii)\?([bq])\?([^?\s]*)\?=/gi, (word, encoding: string, text: string) => {
    if (/b/i.test(encoding)) return BASE64.test(text) ? textOf(atob(text)) : word
    const bytes = text.replaceAll('_', ' ').replaceAll(/=([0-9a-f]{2})/gi, (_, hex) => {
      return String.fromCharCode(Number.parseInt(hex, 16))
    })
    return textOf(bytes)
  })
}

/** The right side of an id, in lower case. */
export function rightSideOf(id: string): string {
  return id.slice(id.lastIndexOf('@') + 1).toLowerCase()
}

/** The addresses in a field of recipients. */
export interface Addresses {
  readonly named: readonly string[]
  /** Tells whether the field has no entry that may be an address in a form that programs read differently. */
  readonly isClear: boolean
}

/** Limit of an address's length (RFC 5321 4.5.3.1): the work for a domain beyond ASCII grows with the square of it. */
const LONGEST_ADDRESS = 320
const ADDRESS = /^(?:"(?:[^"\\]|\\.)*"|[^\s"(),:;<>@[\]\\])+@(?:\[[^\s[\]\\]*\]|[^\s"(),:;<>@[\]\\]+)$/s

/**
 * Lists the addresses in a field of recipients, `Ann <ann@acme.example>, team: bob@acme.example;`, each with its domain in lower case, and in
 * both of its forms where it has letters beyond ASCII. Anybody writes such a field, so that each step takes linear time.
 */
export function addressesIn(field: string): Addresses {
  const { entries, isClosed } = splitList(field)
  const addresses = entries.filter((entry) => entry.includes('@')).map(addressIn)
  const clear = addresses.filter((address) => address !== undefined)
  return {
    named: clear.flatMap((address) => formsOf(normalizeAddress(address))),
    isClear: isClosed && clear.length === addresses.length,
  }
}

/** Reads the address of an entry; undefined for a text that is none. */
function addressIn(entry: string): string | undefined {
  // The address is in angle brackets, behind a name and a route.
  const bracketed = /<(?:[^<>:]*:)?([^<>]*)>$/.exec(entry.trim())?.[1]
  const text = (bracketed ?? entry).trim()
  if (text.length > LONGEST_ADDRESS) return undefined
  // Old forms have blanks around the dots and the @.
  const address = text.replaceAll(/("(?:[^"\\]|\\.)*")|\s*([.@])\s*/gs, '$1$2')
  return ADDRESS.test(address) ? address : undefined
}

/** Splits a list of addresses at commas and at the bounds of groups, and leaves the groups' names out. A quotation that stays open ends it. */
function splitList(field: string): { readonly entries: readonly string[]; readonly isClosed: boolean } {
  const text = withoutComments(field)
  const entries: string[] = []
  let from = 0
  // A route and an address of IPv6 have colons.
  let isInBrackets = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    if (char === '"') {
      const end = endOfQuoted(text, at)
      if (end === undefined) return { entries, isClosed: false }
      at = end - 1
    } else if (/[<>[\]]/.test(char)) isInBrackets = /[<[]/.test(char)
    else if (!isInBrackets && /[,;:]/.test(char)) {
      if (char !== ':') entries.push(text.slice(from, at))
      from = at + 1
    }
  }
  return { entries: [...entries, text.slice(from)], isClosed: true }
}

function withoutComments(text: string): string {
  let kept = ''
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const char = text[at]!
    const end = char === '"' && depth === 0 ? (endOfQuoted(text, at) ?? text.length) : at + (char === '\\' ? 2 : 1)
    if (char === '(') depth++
    else if (char === ')') depth = Math.max(0, depth - 1)
    else if (depth === 0) kept += text.slice(at, end)
    at = end - 1
  }
  return kept
}

function formsOf(address: string): string[] {
  const at = address.lastIndexOf('@') + 1
  const [local, domain] = [address.slice(0, at), address.slice(at)]
  if (!/[^\0-\x7f]|(?:^|\.)xn--/.test(domain)) return [address]
  const others = [domainToASCII(domain), domainToUnicode(domain)].filter((form) => form !== '' && form !== domain)
  return [address, ...others.map((form) => local + form)]
}

/** Brings an address into the form of which fingerprints are made: the domain in lower case. */
export function normalizeAddress(address: string): string {
  const at = address.lastIndexOf('@') + 1
  return address.slice(0, at) + address.slice(at).toLowerCase()
}
