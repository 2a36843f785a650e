/** Asks Linear's GraphQL API, which refuses with `errors` in answers of status 200 and 400, also beside data. */
import {
  type CheckContext,
  DestinationError,
  type DestinationErrorCode,
  header,
  type JsonObject,
  readJson,
  retryAfterMs,
  type Static,
  statusError,
  type TSchema,
  Type,
  Value,
} from '@claimcheck/core/plugin'
import type { Reads } from '../reads.ts'

export const LINEAR_API = 'https://api.linear.app/graphql'

export const ISSUE_QUERY = `query ($id: String!, $after: String) {
  organization { urlKey previousUrlKeys }
  issue(id: $id) {
    id
    identifier
    previousIdentifiers
    createdAt
    state { id type }
    history(first: 50, after: $after, includeArchived: true) {
      nodes { id createdAt updatedAt actor { id } botActor { id } fromState { id type } toState { id type } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`
export const VIEWER_QUERY = 'query { viewer { id } }'
export const QUERIES = [ISSUE_QUERY, VIEWER_QUERY]

const Code = Type.Optional(Type.String())
const Errors = Type.Array(Type.Object({ extensions: Type.Optional(Type.Object({ code: Code, type: Code })) }))
const Answer = Type.Object({ errors: Type.Optional(Errors), data: Type.Optional(Type.Unknown()) })

/** The meaning of Linear's errors by their code, or by the type that its SDK reads. Others say that the answer was not expected. */
const MEANINGS: ReadonlyMap<string | undefined, DestinationErrorCode> = new Map([
  ['AUTHENTICATION_ERROR', 'unauthorized'],
  ['authentication error', 'unauthorized'],
  ['FORBIDDEN', 'forbidden'],
  ['forbidden', 'forbidden'],
  ['RATELIMITED', 'rate_limited'],
  ['ratelimited', 'rate_limited'],
  ['INTERNAL_SERVER_ERROR', 'unavailable'],
  ['internal error', 'unavailable'],
  // An issue that the key may not see is answered as one that does not exist: its id is no valid input.
  ['INPUT_ERROR', 'forbidden'],
  ['invalid input', 'forbidden'],
])

const LARGEST_ANSWER_BYTES = 1024 * 1024

export function openLinear(api_key: string, { fetch, now }: Pick<CheckContext, 'fetch' | 'now'>, reads: Reads) {
  return {
    /** Sends a query. @throws DestinationError for an answer with errors, whatever data it has, and for one of another shape */
    async ask<T extends TSchema>(graphql: string, variables: JsonObject, schema: T): Promise<Static<T>> {
      const response = await fetch(LINEAR_API, {
        headers: { accept: 'application/json' },
        auth: header('Authorization', api_key),
        call: { graphql, variables },
      })
      const { status, headers } = response
      if (status !== 200 && status !== 400) {
        await response.body?.cancel()
        throw statusError(response, now())
      }
      const answer = await readJson(response, LARGEST_ANSWER_BYTES)
      reads.note(headers)
      if (!Value.Check(Answer, answer)) throw new DestinationError('unexpected_response', { status })
      const { errors, data } = answer as Static<typeof Answer>
      if (errors) throw refusal(errors, response, now())
      if (status !== 200 || !Value.Check(schema, data)) throw new DestinationError('unexpected_response', { status })
      return data as Static<T>
    },
  }
}

function refusal(
  errors: Static<typeof Errors>,
  { status, headers }: Pick<Response, 'status' | 'headers'>,
  now: number,
): DestinationError {
  const codes = errors.map(({ extensions: { code, type } = {} }) => MEANINGS.get(code) ?? MEANINGS.get(type))
  // One error that is not known leaves open what the others are about.
  const code = codes.every((one) => one === codes[0]) ? codes[0] : undefined
  const wait = code === 'rate_limited' ? waitMs(headers, now) : undefined
  return new DestinationError(code ?? 'unexpected_response', {
    status,
    ...(wait !== undefined && { retryAfterMs: wait }),
  })
}

/** Milliseconds until the limit that is used up begins anew. Linear tells moments, in milliseconds. */
function waitMs(headers: Headers, now: number): number | undefined {
  const theirNow = Date.parse(headers.get('date') ?? '') || now
  const asked = retryAfterMs(headers, theirNow)
  if (asked !== undefined) return asked
  const ends = ['requests', 'complexity', 'endpoint-requests']
    .filter((limit) => headers.get(`x-ratelimit-${limit}-remaining`) === '0')
    .map((limit) => Number(headers.get(`x-ratelimit-${limit}-reset`)))
  return ends.length > 0 && ends.every(Number.isFinite) ? Math.max(...ends.map((end) => end - theirNow), 0) : undefined
}
