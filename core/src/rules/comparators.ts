/** Compares a claim's value with the fact that shows it, by a closed list of comparators, which checkers of other languages have, too. */
import { fromBase64url, toBase64url } from '../encoding.ts'
import type { JsonValue } from '../json.ts'
import { canonicalize } from '../receipt/jcs.ts'

/**
 * - `exact`: the same JSON.
 * - `case`: texts whose ASCII letters may differ in case, such as commit ids.
 * - `digest`: one digest in any of its forms: `sha256:` or `sha256-` before hexadecimal, base64 or base64url, or hexadecimal alone.
 * - `address`: one URL, whatever the case of its scheme and host, its usual port, its escapes, its fragment and a slash at its end.
 * - `package`: one package: `pypi:` by PEP 503, `cargo:` with `-` for `_` and in any case, all others exactly.
 * - `none`: no fact shows it.
 */
export const COMPARATORS = ['exact', 'case', 'digest', 'address', 'package', 'none'] as const
export type Comparator = (typeof COMPARATORS)[number]

export function isSameBy(comparator: Comparator, claimed: JsonValue, seen: JsonValue): boolean {
  if (claimed === seen) return true
  const formOf = FORMS[comparator]
  const form = formOf(claimed)
  return form !== undefined && form === formOf(seen)
}

type Form = (value: JsonValue) => string | undefined

const ofText =
  (form: (text: string) => string | undefined): Form =>
  (value) =>
    typeof value === 'string' ? form(value) : undefined

const FORMS: Readonly<Record<Comparator, Form>> = {
  exact: canonicalize,
  case: ofText(lowerCase),
  digest: ofText(digestForm),
  address: ofText(addressForm),
  package: ofText(packageForm),
  none: () => undefined,
}

/** Lowers letters of ASCII alone, because others have other rules in other languages. */
function lowerCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

const LENGTHS_BYTES: Readonly<Record<string, number>> = { sha1: 20, sha256: 32, sha384: 48, sha512: 64 }
const DIGEST = /^(?:(sha1|sha256|sha384|sha512)[:-])?([A-Za-z0-9+/_-]+)={0,2}$/i
const HEX = /^(?:[0-9a-f]{2})+$/i

/** The one form of a digest; undefined for any other text. Hexadecimal names its algorithm by its length. */
function digestForm(text: string): string | undefined {
  const [, named, digits = ''] = DIGEST.exec(text) ?? []
  const isHex = HEX.test(digits)
  const algorithm = named
    ? lowerCase(named)
    : Object.keys(LENGTHS_BYTES).find((name) => isHex && digits.length === 2 * LENGTHS_BYTES[name]!)
  if (algorithm === undefined) return undefined
  const length = LENGTHS_BYTES[algorithm]!
  if (isHex && digits.length === 2 * length) return `${algorithm}-${toBase64url(fromHex(digits))}`
  const base64url = digits.replaceAll('+', '-').replaceAll('/', '_')
  return fromBase64url(base64url, length) ? `${algorithm}-${base64url}` : undefined
}

function fromHex(digits: string): Uint8Array {
  return Uint8Array.from(digits.match(/../g)!, (pair) => Number.parseInt(pair, 16))
}

const ADDRESS = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)([^?#]*)(\?[^#]*)?(?:#.*)?$/is
const USUAL_PORTS: ReadonlyMap<string, RegExp> = new Map([
  ['https', /:(?:443)?$/],
  ['http', /:(?:80)?$/],
])
const UNRESERVED = /^[A-Za-z0-9._~-]$/

/** The one form of an address by RFC 3986 6.2.2 and 6.2.3, without what needs tables of names; undefined for any other text. */
function addressForm(text: string): string | undefined {
  const [, scheme = '', host = '', path = '', query = ''] = ADDRESS.exec(text) ?? []
  if (scheme === '') return undefined
  const named = lowerCase(scheme)
  const place = lowerCase(host).replace(USUAL_PORTS.get(named) ?? /:$/, '')
  return `${named}://${place}${normalizeEscapes(path).replace(/\/$/, '')}${normalizeEscapes(query)}`
}

/** Decodes escapes of characters that need none, and writes all others in upper case. */
function normalizeEscapes(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (written, pair: string) => {
    const letter = String.fromCharCode(Number.parseInt(pair, 16))
    return UNRESERVED.test(letter) ? letter : written.toUpperCase()
  })
}

function packageForm(text: string): string {
  const [, registry, name = ''] = /^(pypi|cargo):(.*)$/s.exec(text) ?? []
  if (registry === 'pypi') return `pypi:${lowerCase(name).replace(/[-_.]+/g, '-')}`
  if (registry === 'cargo') return `cargo:${lowerCase(name).replaceAll('_', '-')}`
  return text
}
