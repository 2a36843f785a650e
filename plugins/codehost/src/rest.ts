/** Sends requests to the REST APIs of hosts: their paths, the schemas of their answers, which repository these are of, and what failures mean. */
import {
  type Auth,
  type CheckContext,
  DestinationError,
  type Instant,
  type JsonAnswer,
  type PageInit,
  type Static,
  statusError,
  type TSchema,
  Type,
} from '@claimcheck/core/plugin'

export interface RestAccess {
  /** The address of the connection, without a slash at its end. A host may have its API at a path below it. */
  readonly baseUrl: string
  /** The handle of the connection's token. */
  readonly token?: string
  /** The identifiers of who posts our own reports. */
  readonly reporters?: readonly string[]
}

export interface Rest {
  /** Reads a resource. @throws DestinationError for every status but 200, and for an answer that does not match the schema */
  get<T extends TSchema>(path: string, schema: T): Promise<JsonAnswer<Static<T>>>
  /**
   * Reads a resource that may be missing. `value` is undefined for a status in `also`, which defaults to 404; that can also mean that these
   * credentials may not see it.
   */
  find<T extends TSchema>(path: string, schema: T, also?: readonly number[]): Promise<JsonAnswer<Static<T> | undefined>>
  /** Reads the pages of a list. @param next the path of the next page. @throws DestinationError `too_large` where there are more than `most` */
  paginate<T extends TSchema>(
    path: string,
    init: Pick<Required<PageInit<T>>, 'schema' | 'next' | 'most'> & Pick<PageInit<T>, 'also'>,
  ): AsyncIterable<JsonAnswer<Static<T>>>
}

/** Creates the requests to an API. @param root the beginning of the address of each request @param auth authorizes each of them */
export function createRest(root: string, auth: Auth | undefined, { http }: Pick<CheckContext, 'http'>): Rest {
  return {
    get: (path, schema) => http.json(root + path, { schema, auth }),
    find: (path, schema, also = [404]) => http.json(root + path, { schema, auth, also }),
    paginate: (path, { next, ...init }) =>
      http.paginate(root + path, {
        ...init,
        auth,
        next(page) {
          const following = next(page)
          return following === undefined ? undefined : root + following
        },
      }),
  }
}

/** Escapes each segment of a path, such as of a branch's name: hosts expect its slashes as they are, and no other character may have a meaning. */
export function escapePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}

/** The schema of a member that a host sends as null where it has nothing. */
export const nullable = <T extends TSchema>(schema: T) => Type.Union([Type.Null(), schema])

/** The schema of a member that a host leaves out, or sends as null, where it has nothing. */
export const orNull = <T extends TSchema>(schema: T) => Type.Optional(nullable(schema))

/** Time that callers have to wait when GitHub's answer about a secondary limit names none. */
const DEFAULT_LIMIT_MS = 60_000

/**
 * Turns an HTTP answer other than success into the reason why the destination could not be read.
 *
 * @param message the message in the answer's body, if there was one
 */
export function httpFailure(response: Response, now: Instant, message = ''): DestinationError {
  const { status } = response
  const usual = statusError(response, now)
  if (usual.code === 'rate_limited' || (status === 403 && /rate limit/i.test(message))) {
    return new DestinationError('rate_limited', { status, retryAfterMs: usual.retryAfterMs ?? DEFAULT_LIMIT_MS })
  }
  // Receipts of these actions have recorded 408 as `unexpected_response` since their first version.
  return usual.code === 'timeout' ? new DestinationError('unexpected_response', { status }) : usual
}

/** The failure of a host that answered something else than was asked for. */
export function unexpectedAnswer(): DestinationError {
  return new DestinationError('unexpected_response', { status: 200 })
}

/** The host's own account of which repository it is. */
export interface Identity {
  readonly repositoryId: string
  /** The repository's path, `<owner>/<repo>`. At Bitbucket Data Center, a person's project is `~<name>`. */
  readonly repositoryName: string
  readonly clockBehindMs: number | undefined
}

/**
 * Identifies the repository that an answer of one of its parts names.
 * @param show reads the repository itself
 * @throws DestinationError `ambiguous_claim` when that is another one
 */
export async function identifyPart(
  named: Identity | undefined,
  slug: string,
  show: () => Promise<Identity>,
): Promise<Identity> {
  if (named?.repositoryName.toLowerCase() === slug.toLowerCase()) return named
  // The repository has another name now, or a part of another repository was shown.
  const shown = await show()
  if (named && named.repositoryId !== shown.repositoryId) throw new DestinationError('ambiguous_claim')
  return shown
}
