/** Reads request bodies: accepts only JSON that all parsers read in the same way, and reports the mistake otherwise. */
import { JsonError, type JsonErrorCode, parseStrictJson, type StrictJson } from '@claimcheck/core/receipts'
import type { FastifyRequest } from 'fastify'
import { type Issue, ServiceError } from '../base/errors.ts'
import { HttpError } from './errors.ts'
import type { App } from './instance.ts'
import { contentIssues, MAX_NESTING, MAX_VALUES, notAnInteger, notUnicode } from './text.ts'

export const BODY_LIMIT_BYTES = 64 * 1024

const UTF_8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export function acceptJsonBodies(app: App): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: BODY_LIMIT_BYTES },
    async (request: FastifyRequest, body: Buffer) => {
      if (request.headers['content-encoding'] !== undefined)
        throw new HttpError(415, 'the body must not have a content-encoding')
      return readBody(body)
    },
  )
}

/**
 * Reads the body of a request as JSON.
 * @returns undefined for an empty body
 * @throws ServiceError `invalid`
 */
function readBody(body: Buffer): unknown {
  if (body.length === 0) return undefined
  const { value, integersOnly } = parse(decode(body))
  const issues = contentIssues(value, ['body'])
  // JavaScript reads `1.0` and `1e3` as integers, but their text is not 1 and 1000: a client that hashes its text gets another digest.
  if (issues.length === 0 && !integersOnly) issues.push(notAnInteger(['body']))
  if (issues.length > 0) throw invalid(issues)
  return value
}

function decode(body: Buffer): string {
  try {
    return UTF_8.decode(body)
  } catch (cause) {
    throw invalid([jsonInvalid(0, 'the body is not UTF-8')], cause)
  }
}

function parse(text: string): StrictJson {
  try {
    return parseStrictJson(text, { maxDepth: MAX_NESTING, maxValues: MAX_VALUES })
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    const { code, position } = error
    throw invalid(
      [code === 'lone_surrogate' ? notUnicode(['body', position]) : jsonInvalid(position, REASONS[code])],
      error,
    )
  }
}

const REASONS: Readonly<Record<JsonErrorCode, string>> = {
  not_json: 'not JSON',
  duplicate_member: 'a member name occurs twice',
  lone_surrogate: 'a string is not Unicode',
  number_out_of_range: 'a number is out of range',
  too_deep: `nested deeper than ${MAX_NESTING} levels`,
  too_many: `more than ${MAX_VALUES} members and items`,
}

function jsonInvalid(position: number, error: string): Issue {
  return { loc: ['body', position], type: 'json_invalid', msg: 'JSON decode error', ctx: { error } }
}

function invalid(issues: readonly Issue[], cause?: unknown): ServiceError {
  return new ServiceError('invalid', 'the body is not valid', { issues, cause })
}
