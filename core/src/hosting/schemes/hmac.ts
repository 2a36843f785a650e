/** Signs the host's own request by a message authentication code, over templates that the connection type declares. */
import { hexToBytes } from '@noble/hashes/utils.js'
import { DestinationError } from '../../contract/destination-error.ts'
import { utf8 } from '../../encoding.ts'
import { Type } from '../../typebox.ts'
import { isForbiddenHeader } from '../headers.ts'
import { encodeBytes, hashOf, macOf } from './hashes.ts'
import { hideCredentials, targetOf, withHeaders } from './messages.ts'
import type { Outgoing, Scheme, SchemeHost } from './scheme.ts'
import { fillTemplate, namesIn, OPTION, shownOptionsIn } from './templates.ts'

/**
 * A message authentication code over the host's own request. Templates are made of text and `{method}`, `{host}`, `{path}`, `{query}` (as
 * sent, without its `?`), `{target}` (the path, with `?` and the query where there is one), `{date}`, `{nonce}`, `{body}` (the digest of the
 * body) and `{option.<name>}` of an option that is not secret; headers also of `{signature}`.
 */
export interface HmacCredential {
  readonly scheme: 'hmac'
  /** The name of the secret option that holds the key. */
  readonly key: string
  /** The encoding of the key. Defaults to `text`. */
  readonly keyEncoding?: 'text' | 'base64' | 'hex'
  readonly hash: 'sha1' | 'sha256' | 'sha512'
  /** The encoding of the signature, and of the digest of the body. */
  readonly encoding: 'hex' | 'base64'
  /** The form of `{date}`: RFC 9110, RFC 3339, or time since 1970. */
  readonly date?: 'http' | 'iso' | 'seconds' | 'milliseconds'
  readonly message: string
  /** Templates of the headers that the host sets, by name. */
  readonly headers: Readonly<Record<string, string>>
}

const name = Type.String({ minLength: 1 })
const template = Type.String({ minLength: 1, maxLength: 4096 })
const oneOf = (...values: readonly string[]) => Type.Union(values.map((value) => Type.Literal(value)))

export const hmac: Scheme<HmacCredential> = {
  form: Type.Object(
    {
      scheme: Type.Literal('hmac'),
      key: name,
      keyEncoding: Type.Optional(oneOf('text', 'base64', 'hex')),
      hash: oneOf('sha1', 'sha256', 'sha512'),
      encoding: oneOf('hex', 'base64'),
      date: Type.Optional(oneOf('http', 'iso', 'seconds', 'milliseconds')),
      message: template,
      headers: Type.Record(Type.String({ pattern: '^[a-z0-9-]{1,64}$' }), template, { additionalProperties: false }),
    },
    { additionalProperties: false },
  ),
  options: ({ key, message, headers }) => [
    { name: key, isSecret: true },
    ...shownOptionsIn([message, ...Object.values(headers)]),
  ],
  problems({ message, headers, date }) {
    const inHeaders = Object.values(headers).flatMap(namesIn)
    const inMessage = namesIn(message)
    const isKnown = (part: string) => part.startsWith(OPTION) || PARTS.has(part)
    return [
      ...inMessage.filter((part) => !isKnown(part)).map((part) => `the message names {${part}}, which is no part`),
      ...inHeaders
        .filter((part) => part !== 'signature' && !isKnown(part))
        .map((part) => `a header names {${part}}, which is no part`),
      ...(inHeaders.includes('signature') ? [] : ['no header carries {signature}']),
      ...([...inMessage, ...inHeaders].includes('date') && date === undefined
        ? ['{date} needs a form: give date']
        : []),
      ...Object.keys(headers)
        .filter((header) => header !== 'date' && isForbiddenHeader(header))
        .map((header) => `may not set the header ${header}`),
    ]
  },
  async spend(credential, request, host) {
    const { hash, encoding } = credential
    const parts = partsOf(credential, request, host)
    const message = fillTemplate(credential.message, parts)
    const signature = encodeBytes(macOf(hash, keyOf(credential, host), message), encoding)
    const headers = Object.entries(credential.headers).map(([name, text]) => [
      name,
      fillTemplate(text, (part) => (part === 'signature' ? signature : parts(part))),
    ])
    return hideCredentials(await host.send(withHeaders(request, Object.fromEntries(headers))))
  },
}

const PARTS: ReadonlySet<string> = new Set(['method', 'host', 'path', 'query', 'target', 'date', 'nonce', 'body'])

function partsOf(
  { hash, encoding, date = 'http' }: HmacCredential,
  { url, method, body = '' }: Outgoing,
  host: SchemeHost,
): (part: string) => string {
  const values: Readonly<Record<string, string>> = {
    method,
    host: url.host,
    path: url.pathname,
    query: url.search.slice(1),
    target: targetOf(url),
    date: formatDate(date, host.now()),
    nonce: host.nonce(),
    body: hashOf(hash, body, encoding),
  }
  return (part) => values[part] ?? host.required(part.slice(OPTION.length))
}

function formatDate(form: NonNullable<HmacCredential['date']>, now: number): string {
  switch (form) {
    case 'http':
      return new Date(now).toUTCString()
    case 'iso':
      return new Date(now).toISOString()
    case 'seconds':
      return String(Math.floor(now / 1000))
    case 'milliseconds':
      return String(now)
  }
}

/** Decodes the key. @throws DestinationError `misconfigured` for a key that is not in its encoding */
function keyOf({ key, keyEncoding = 'text' }: HmacCredential, { required }: SchemeHost): Uint8Array {
  const text = required(key)
  if (keyEncoding === 'text') return utf8(text)
  try {
    return keyEncoding === 'hex' ? hexToBytes(text) : Uint8Array.from(atob(text), (one) => one.charCodeAt(0))
  } catch {
    throw new DestinationError('misconfigured')
  }
}
