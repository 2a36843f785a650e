/** Bearer tokens of container registries: exchanges the credentials for a token where the registry says, and remembers it. */
import { DestinationError } from '../../contract/destination-error.ts'
import { statusError } from '../../contract/http.ts'
import { utf8 } from '../../encoding.ts'
import { objectIn } from '../../json.ts'
import { Type } from '../../typebox.ts'
import { parseUrl } from '../../url.ts'
import { encodeBase64 } from './hashes.ts'
import { hideCredentials, isAccessToken, withHeaders, withoutStatus } from './messages.ts'
import type { ExchangeAnswer, Outgoing, Scheme, SchemeHost } from './scheme.ts'
import { type Challenge, challengesOf } from './www-authenticate.ts'

/**
 * Bearer tokens of container registries: the host answers `WWW-Authenticate: Bearer realm="..."` with a token from that realm, which has to
 * be the destination itself or one of the manifest's `tokenHosts`. It asks for `pull` alone, and for the repository of the request. Without
 * a username and a password it asks as anybody.
 */
export interface ChallengeCredential {
  readonly scheme: 'challenge'
  /** The name of the option that holds the registry's username. */
  readonly username?: string
  /** The name of the secret option that holds the registry's password. */
  readonly password?: string
}

const name = Type.String({ minLength: 1 })

export const challenge: Scheme<ChallengeCredential> = {
  form: Type.Object(
    { scheme: Type.Literal('challenge'), username: Type.Optional(name), password: Type.Optional(name) },
    { additionalProperties: false },
  ),
  options: ({ username, password }) => [
    ...(username === undefined ? [] : [{ name: username }]),
    ...(password === undefined ? [] : [{ name: password, isSecret: true }]),
  ],
  problems: ({ username, password }) =>
    (username === undefined) === (password === undefined)
      ? []
      : ['a username needs a password, and a password a username'],
  async spend(credential, request, host) {
    const repository = repositoryOf(request.url)
    const key = `token ${repository ?? ''}`
    const basic = basicOf(credential, host)
    const kept = host.memory.get(key)
    const first = await host.send(kept === undefined ? request : withAuthorization(request, kept))
    if (first.status !== 401) return hideCredentials(first)
    // The token may be from before a first push, when its repository did not exist. A newer token is another check's.
    if (host.memory.get(key) === kept) host.memory.delete(key)
    const asked = challengesOf(first.headers)
    const bearer = asked.find(({ scheme }) => scheme === 'bearer')
    if (bearer && mayAsk(bearer, repository)) {
      await first.body?.cancel()
      const authorization = await host.memory.once(key, async () => {
        const newest = host.memory.get(key)
        if (newest !== undefined) return newest
        const { token, until } = await tokenFor(bearer, request.url, basic, host).catch((error: unknown) => {
          throw withoutStatus(error)
        })
        host.memory.set(key, `Bearer ${token}`, until)
        return `Bearer ${token}`
      })
      const answer = await host.send(withAuthorization(request, authorization))
      // The issuer took the credentials, so a 401 refuses this repository, for want of scope.
      return hideCredentials(answer, answer.status === 401 ? { status: 403 } : {})
    }
    if (basic !== undefined && asked.some(({ scheme }) => scheme === 'basic') && kept === undefined) {
      await first.body?.cancel()
      return hideCredentials(await host.send(withAuthorization(request, basic)))
    }
    return hideCredentials(first)
  },
}

function withAuthorization(request: Outgoing, authorization: string): Outgoing {
  return withHeaders(request, { authorization })
}

function basicOf({ username, password }: ChallengeCredential, { value }: SchemeHost): string | undefined {
  const [user, secret] = [value(username), value(password)]
  return user === undefined || secret === undefined ? undefined : `Basic ${encodeBase64(utf8(`${user}:${secret}`))}`
}

/** The repository of a request by the distribution specification; undefined for a request that belongs to none. */
function repositoryOf({ pathname }: URL): string | undefined {
  return /^\/v2\/([a-z0-9][a-z0-9._/-]{0,254})\/(?:manifests|blobs|tags|referrers)\/[^/]+$/.exec(pathname)?.[1]
}

/** Tells whether a challenge's scope may be asked for. A registry could name any, but one of no repository, such as its catalog, is not. */
function mayAsk({ parameters }: Challenge, repository: string | undefined): boolean {
  return repository !== undefined || !parameters.has('scope')
}

const LONGEST_SERVICE = 256
const USUAL_SECONDS = 60
const MOST_SECONDS = 3600
/** Seconds by which a token ends early, because the registry's clock may be behind. */
const MARGIN_SECONDS = 5

async function tokenFor(
  { parameters }: Challenge,
  registry: URL,
  basic: string | undefined,
  host: SchemeHost,
): Promise<{ readonly token: string; readonly until: number }> {
  const url = parseUrl(parameters.get('realm') ?? '')
  const repository = repositoryOf(registry)
  const service = parameters.get('service')
  const isPlainer = registry.protocol === 'https:' && url?.protocol !== 'https:'
  if (!url || isPlainer || (service?.length ?? 0) > LONGEST_SERVICE) throw new DestinationError('unexpected_response')
  if (service !== undefined) url.searchParams.set('service', service)
  url.searchParams.delete('scope')
  if (repository !== undefined) url.searchParams.set('scope', `repository:${repository}:pull`)
  const headers = new Headers({ accept: 'application/json' })
  if (basic !== undefined) headers.set('authorization', basic)
  const startedAt = host.now()
  // The exchange outlives its check, because other checks may wait for the same token.
  const answer = await host.exchange({ url, method: 'GET', headers }, { outlives: true })
  if (answer.status === 401 || answer.status === 403) throw new DestinationError('unauthorized')
  if (answer.status !== 200) throw statusError(answer, host.now())
  const { token, seconds } = readToken(answer)
  return { token, until: startedAt + Math.max(seconds - MARGIN_SECONDS, 0) * 1000 }
}

function readToken({ text }: ExchangeAnswer): { readonly token: string; readonly seconds: number } {
  const { token, access_token, expires_in: seconds = USUAL_SECONDS } = objectIn(text)
  const found = token ?? access_token
  if (!isAccessToken(found) || typeof seconds !== 'number') throw new DestinationError('unexpected_response')
  return { token: found, seconds: Math.min(seconds, MOST_SECONDS) }
}
