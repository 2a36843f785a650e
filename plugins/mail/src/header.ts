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

/** Decodes the encoded words of a text (RFC 2047). */
function decodeWords(value: string): string {
  const joined = value.replaceAll(/\?=\s+=\?/g, '?==?')
  return joined.replaceAll(/=\?(?:utf-8|us-ascii)\?([bq])\?([^?\s]*)\?=/gi, (word, encoding: string, text: string) => {
    if (/b/i.test(encoding)) return /^[A-Za-z0-9+/]*={0,2}$/.test(text) ? textOf(atob(text)) : word
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

/**
 * Lists the addresses in a field of recipients, `Ann <ann@acme.example>, team: bob@acme.example;`, each with its domain in lower case, and in
 * both of its forms where it has letters beyond ASCII.
 */
export function addressesIn(field: string): string[] {
  return splitList(field).flatMap((entry) => {
    // The address is in angle brackets, behind a name and a route.
    const bracketed = /<(?:[^<>:]*:)?([^<>]*)>\s*$/.exec(entry)?.[1]
    // A local part in quotes may have spaces.
    const address = (bracketed ?? entry).replaceAll(/("(?:[^"\\]|\\.)*")|\s+/gs, '$1')
    return address.includes('@') ? formsOf(normalizeAddress(address)) : []
  })
}

/** Splits a list of addresses at commas and at the bounds of groups, and leaves the groups' names out. */
function splitList(field: string): string[] {
  const entries = ['']
  // A route and an address of IPv6 have colons.
  let isInBrackets = false
  for (const [token] of withoutComments(field).matchAll(/"(?:[^"\\]|\\.)*"|./gs)) {
    if (token === '<' || token === '[') isInBrackets = true
    else if (token === '>' || token === ']') isInBrackets = false
    if (isInBrackets || !/^[,;:]$/.test(token)) entries.push(entries.pop() + token)
    else if (token === ':') entries.splice(-1, 1, '')
    else entries.push('')
  }
  return entries
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
  const others = [domainToASCII(domain), domainToUnicode(domain)].filter((form) => form !== '' && form !== domain)
  return [address, ...others.map((form) => local + form)]
}

/** Brings an address into the form of which fingerprints are made: the domain in lower case. */
export function normalizeAddress(address: string): string {
  const at = address.lastIndexOf('@') + 1
  return address.slice(0, at) + address.slice(at).toLowerCase()
}
