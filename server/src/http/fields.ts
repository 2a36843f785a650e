/** Bounds the fields of forms, queries and cookies before they are parsed: a parser, and the code that reads its result, take time for each field. */
import { parse } from 'node:querystring'
import type { FastifyRequest } from 'fastify'
import { BODY_LIMIT_BYTES } from './body.ts'
import { HttpError } from './errors.ts'
import type { App } from './instance.ts'

/** The most fields of a form or query. No page has so many. */
const MOST_FIELDS = 200
/** The longest name of a field, in bytes as sent. */
const LONGEST_NAME = 256
/** The most cookies of a request, more than browsers keep for one site. */
const MOST_COOKIES = 200

type Fields = Readonly<Record<string, string | readonly string[] | undefined>>

/** Takes the place of a query that has too many fields, which no hook can refuse before the router parses it. */
const REFUSED: Fields = Object.freeze({})

export function acceptForms(app: App): void {
  const options = { parseAs: 'buffer', bodyLimit: BODY_LIMIT_BYTES } as const
  app.addContentTypeParser(
    'application/x-www-form-urlencoded',
    options,
    async (_request: FastifyRequest, body: Buffer) => parseForm(body.toString()),
  )
}

/**
 * Parses a form.
 * @throws HttpError 413 for one with too many fields
 */
function parseForm(text: string): Fields {
  if (!isBounded(text, '&', MOST_FIELDS))
    throw new HttpError(413, `a form has at most ${MOST_FIELDS} fields, with names of at most ${LONGEST_NAME} bytes`)
  return parse(text, '&', '=', { maxKeys: 0 })
}

export function parseQuery(text: string): Fields {
  if (text === '') return {}
  return isBounded(text, '&', MOST_FIELDS) ? parse(text, '&', '=', { maxKeys: 0 }) : REFUSED
}

/**
 * Refuses requests with too many fields in the query, or too many cookies. The credential of a route that needs one is examined first: what is
 * refused before it would be neither paid for nor counted.
 */
export function boundFields(app: App): void {
  app.addHook('onRequest', (request, _reply, done) =>
    request.routeOptions.config.needsCredential ? done() : done(problemOf(request)),
  )
  app.addHook('preParsing', (request, _reply, _payload, done) =>
    request.routeOptions.config.needsCredential ? done(problemOf(request)) : done(),
  )
}

function problemOf({ query, headers: { cookie } }: FastifyRequest): HttpError | undefined {
  if (query === REFUSED)
    return new HttpError(400, `a query has at most ${MOST_FIELDS} fields, with names of at most ${LONGEST_NAME} bytes`)
  if (cookie !== undefined && !isBounded(cookie, ';', MOST_COOKIES))
    return new HttpError(400, `a request has at most ${MOST_COOKIES} cookies: delete those of this site`)
  return undefined
}

function isBounded(text: string, separator: string, most: number): boolean {
  let count = 0
  for (let start = 0; start <= text.length; ) {
    if (++count > most) return false
    const next = text.indexOf(separator, start)
    const end = next === -1 ? text.length : next
    const equals = text.indexOf('=', start)
    const nameEnd = equals === -1 || equals > end ? end : equals
    if (nameEnd - start > LONGEST_NAME) return false
    start = end + 1
  }
  return true
}
