/** Asks Linear's GraphQL API, which refuses with `errors` in answers of status 200 and 400, also beside data. */
import {
  type CallRefusal,
  type CheckContext,
  DestinationError,
  type DestinationErrorCode,
  header,
  type JsonObject,
  retryAfterMs,
  type Static,
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

export function openLinear(api_key: string, { http, now }: Pick<CheckContext, 'http' | 'now'>, reads: Reads) {
  return {
    /** Sends a query. @throws DestinationError for an answer with errors, whatever data it has, and for one of another shape */
    async ask<T extends TSchema>(query: string, variables: JsonObject, schema: T): Promise<Static<T>> {
      const { value, headers } = await http.graphql(LINEAR_API, query, variables, {
        schema,
        auth: header('Authorization', api_key),
        refused(refusal) {
          throw errorOf(refusal, now())
        },
      })
      reads.note(headers)
      return value
    },
  }
}

function errorOf({ errors, status, headers }: CallRefusal, now: number): DestinationError {
  const codes = Value.Check(Errors, errors)
    ? errors.map(({ extensions: { code, type } = {} }) => MEANINGS.get(code) ?? MEANINGS.get(type))
    : []
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
