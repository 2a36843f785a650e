/** Changes a sound request into one that nobody meant: one place or a few at a time, so that what lies behind the first check is reached. */
import type { Random } from '../crash/random.ts'
import { escaped, headerText, nastyJson, nastyText } from './values.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** A query or a form: a name may be there more than once. */
export type Pairs = readonly (readonly [name: string, value: string])[]

const NAMES = ['__proto__', 'constructor', '_csrf', 'id', 'a[b]', 'a.b', '', 'limit', 'next', 'workspace', 'role', '\0']

export function changedPairs(pairs: Pairs, random: Random): Pairs {
  const changed = pairs.map((pair) => [...pair] as [string, string])
  const times = random.pick([0, 1, 1, 1, 2, 4])
  for (let count = 0; count < times; count++) {
    const index = random.below(changed.length)
    const pair = changed[index]
    const way = random.below(8)
    if (pair === undefined || way === 0) changed.push([random.pick(NAMES), nastyText(random)])
    else if (way === 1) changed.splice(index, 1)
    else if (way === 2) changed.push([pair[0], random.chance(0.5) ? pair[1] : nastyText(random)])
    else pair[1] = nastyText(random)
  }
  return changed
}

export function queryText(pairs: Pairs, random: Random): string {
  const text = pairs.map(([name, value]) => `${escaped(name, random)}=${escaped(value, random)}`).join('&')
  return text === '' && random.chance(0.9) ? '' : `?${text}`
}

export function formText(pairs: Pairs): string {
  return pairs.map(([name, value]) => `${formEscaped(name)}=${formEscaped(value)}`).join('&')
}

/** Not `URLSearchParams`: every byte is escaped that could be. */
function formEscaped(text: string): string {
  const hexOf = (byte: string) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`
  return Buffer.from(text, 'utf8')
    .toString('latin1')
    .replace(/[^A-Za-z0-9_.-]/g, hexOf)
}

/** The text of a body like this one, with so many places changed. */
export function changedJson(value: Json, random: Random): string {
  const places = placesOf(value)
  const chosen = new Map<string, string | undefined>()
  for (let count = random.pick([0, 1, 1, 1, 2]); count > 0; count--) {
    chosen.set(random.pick(places), random.chance(0.15) ? undefined : nastyJson(random))
  }
  const text = write(value, '', chosen) ?? ''
  if (random.chance(0.1)) return text.slice(0, random.below(text.length + 1))
  if (random.chance(0.05)) return text.replace('{', `{${JSON.stringify(nastyText(random))}:${nastyJson(random)},`)
  if (random.chance(0.03)) return `${text}${' '.repeat(random.pick([1, 65_536, 70_000]))}`
  return text
}

function placesOf(value: Json, at = ''): string[] {
  if (typeof value !== 'object' || value === null) return [at]
  return [at, ...Object.entries(value).flatMap(([name, member]) => placesOf(member as Json, `${at}/${name}`))]
}

/** @returns undefined where the place is left out */
function write(value: Json, at: string, chosen: ReadonlyMap<string, string | undefined>): string | undefined {
  if (chosen.has(at)) return chosen.get(at)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(
    ([name, member]) => [name, write(member as Json, `${at}/${name}`, chosen)] as const,
  )
  const kept = members.filter((member): member is readonly [string, string] => member[1] !== undefined)
  if (Array.isArray(value)) return `[${kept.map(([, text]) => text).join(',')}]`
  return `{${kept.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`
}

const METHODS = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'M-SEARCH',
  'get',
  'QUERY',
  'SOURCE',
]

export function changedMethod(method: string, random: Random): string {
  if (!random.chance(0.06)) return method
  return random.pick(METHODS)
}

const TYPES = [
  'application/json',
  'application/json; charset=utf-16',
  'application/json;charset=',
  'APPLICATION/JSON',
  'application/x-www-form-urlencoded',
  'application/x-www-form-urlencoded; charset=ibm037',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'text/plain',
  'text/xml',
  '*/*',
  '/',
  ';',
  'a',
  '',
]

const HEADERS: readonly (readonly [name: string, values: readonly string[]])[] = [
  [
    'accept',
    [
      '*/*',
      'text/html',
      'application/json;q=0, text/html;q=NaN',
      ',,,;;q=',
      'text/html;q=1e999',
      `a${',a'.repeat(2000)}`,
    ],
  ],
  ['accept-language', ['xx-\ud800', '*;q=0']],
  ['accept-encoding', ['gzip;q=0', 'identity;q=0, *;q=0']],
  [
    'authorization',
    ['Bearer', 'Bearer ', 'Basic Og==', 'Basic !!!', `Bearer ${'a'.repeat(4000)}`, 'Bearer svc_sk_x', 'bearer\tx'],
  ],
  [
    'cookie',
    [
      'claimcheck=x',
      '=; ;=',
      'claimcheck',
      `claimcheck=${'%'.repeat(500)}`,
      '__proto__=1',
      'claimcheck_consent=x; claimcheck_consent.sig=y',
    ],
  ],
  ['content-encoding', ['gzip', 'identity', 'br, gzip']],
  ['content-type', TYPES],
  ['expect', ['100-continue', '200-ok']],
  ['forwarded', ['for=127.0.0.1;host=evil.example;proto=https', 'for="_x', ';;']],
  ['host', ['evil.example', 'localhost', '[::1]', '[', 'a b', '127.0.0.1:99999', 'x@y', 'localhost:0']],
  ['if-modified-since', ['never', 'Thu, 01 Jan 1970 00:00:00 GMT']],
  ['if-none-match', ['*', '"x"', '"']],
  ['origin', ['null', 'https://evil.example', '', 'http://localhost:1/', 'localhost']],
  ['range', ['bytes=0-', 'bytes=-1', 'bytes=9-1,2-3']],
  ['referer', ['//', 'http://', 'https://evil.example/console/x', '\\']],
  ['upgrade', ['websocket', 'h2c']],
  ['x-forwarded-for', ['127.0.0.1', '1.2.3.4, \ud800', ',', 'unknown', `1${',1'.repeat(3000)}`]],
  ['x-forwarded-host', ['evil.example', '[', 'a,b', '']],
  ['x-forwarded-proto', ['https', 'javascript', 'https,http', '']],
  ['x-http-method-override', ['DELETE']],
  ['x-original-url', ['/console/account']],
]

export function changedHeaders(
  headers: Readonly<Record<string, string>>,
  random: Random,
): Readonly<Record<string, string>> {
  if (!random.chance(0.2)) return headers
  const changed: Record<string, string> = { ...headers }
  for (let count = random.pick([1, 1, 2]); count > 0; count--) {
    const [name, values] = random.pick(HEADERS)
    const value = random.chance(0.7) ? random.pick(values) : nastyText(random)
    if (random.chance(0.1)) delete changed[name]
    else changed[name] = headerText(value)
  }
  return changed
}

export function changedType(type: string, random: Random): string {
  return random.chance(0.05) ? random.pick(TYPES) : type
}

/** The path with one of its segments changed. */
export function changedPath(path: string, random: Random): string {
  if (!random.chance(0.15)) return path
  const [pathname = '', query] = path.split('?', 2)
  const segments = pathname.split('/')
  const index = random.between(1, segments.length - 1)
  const way = random.below(5)
  if (way === 0) segments.splice(index, 1)
  else if (way === 1) segments.splice(index, 0, escaped(nastyText(random), random))
  else if (way === 2) segments[index] = segments[index]!.toUpperCase()
  else segments[index] = escaped(nastyText(random), random)
  const changed = segments.join('/') || '/'
  return (changed.startsWith('/') ? changed : `/${changed}`) + (query === undefined ? '' : `?${query}`)
}
