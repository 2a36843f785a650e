/** HTTP digest authentication (RFC 7616): the destination gets a digest of the password, and the plugin gets nothing of it. */
import { DestinationError } from '../../contract/destination-error.ts'
import { Type } from '../../typebox.ts'
import { type HashName, hashOf } from './hashes.ts'
import { hideCredentials, targetOf, withHeaders } from './messages.ts'
import type { Outgoing, Scheme, SchemeHost } from './scheme.ts'
import { challengesOf } from './www-authenticate.ts'

/** HTTP digest authentication (RFC 7616) with `qop=auth` and MD5, SHA-256 or SHA-512-256. */
export interface DigestCredential {
  readonly scheme: 'digest'
  /** The name of the option that holds the username. */
  readonly username: string
  /** The name of the secret option that holds the password. */
  readonly password: string
}

const name = Type.String({ minLength: 1 })

export const digest: Scheme<DigestCredential> = {
  form: Type.Object(
    { scheme: Type.Literal('digest'), username: name, password: name },
    { additionalProperties: false },
  ),
  options: ({ username, password }) => [{ name: username }, { name: password, isSecret: true }],
  async spend(credential, request, host) {
    const kept = storedChallenge(host)
    const first = await host.send(kept ? answerChallenge(credential, request, kept, host) : request)
    if (first.status !== 401) return hideCredentials(first)
    host.memory.delete(KEY)
    const asked = strongest(first.headers)
    if (!asked) return hideCredentials(first)
    await first.body?.cancel()
    return hideCredentials(await host.send(answerChallenge(credential, request, { ...asked, uses: 0 }, host)))
  },
}

interface DigestChallenge {
  readonly algorithm: string
  readonly realm: string
  readonly nonce: string
  readonly opaque?: string | undefined
}

interface StoredChallenge extends DigestChallenge {
  /** Number of requests that have used the nonce. */
  readonly uses: number
}

const KEY = 'digest'
const KEPT_MS = 5 * 60_000

function storedChallenge({ memory }: SchemeHost): StoredChallenge | undefined {
  const kept = memory.get(KEY)
  return kept === undefined ? undefined : JSON.parse(kept)
}

/** The digest algorithms by the names of RFC 7616, the strongest last. */
const ALGORITHMS: ReadonlyMap<string, HashName> = new Map([
  ['MD5', 'md5'],
  ['SHA-256', 'sha256'],
  ['SHA-512-256', 'sha512-256'],
])

function strongest(headers: Headers): DigestChallenge | undefined {
  const asked = challengesOf(headers).flatMap(({ scheme, parameters }) => {
    const algorithm = (parameters.get('algorithm') ?? 'MD5').toUpperCase()
    const [realm, nonce] = [parameters.get('realm'), parameters.get('nonce')]
    const qops = (parameters.get('qop') ?? '').split(',').map((qop) => qop.trim())
    if (scheme !== 'digest' || realm === undefined || nonce === undefined) return []
    // The challenge needs qop, because without it the destination could take the digest for another request.
    if (!qops.includes('auth') || !ALGORITHMS.has(algorithm.replace(/-SESS$/, ''))) return []
    return [{ algorithm, realm, nonce, opaque: parameters.get('opaque') }]
  })
  const strength = ({ algorithm }: DigestChallenge) => [...ALGORITHMS.keys()].indexOf(algorithm.replace(/-SESS$/, ''))
  return asked.toSorted((one, other) => strength(other) - strength(one))[0]
}

function answerChallenge(
  credential: DigestCredential,
  request: Outgoing,
  asked: StoredChallenge,
  host: SchemeHost,
): Outgoing {
  const { algorithm, realm, nonce, opaque } = asked
  const uses = asked.uses + 1
  host.memory.set(KEY, JSON.stringify({ ...asked, uses }), host.now() + KEPT_MS)
  const hash = ALGORITHMS.get(algorithm.replace(/-SESS$/, ''))!
  const username = host.required(credential.username)
  // A quoted string cannot carry a quotation mark or a backslash, and the header of one user could become that of another.
  if (/["\\]/.test(username)) throw new DestinationError('misconfigured')
  const [count, cnonce, uri] = [uses.toString(16).padStart(8, '0'), host.nonce(), targetOf(request.url)]
  const plain = hashOf(hash, `${username}:${realm}:${host.required(credential.password)}`)
  const secret = algorithm.endsWith('-SESS') ? hashOf(hash, `${plain}:${nonce}:${cnonce}`) : plain
  const response = hashOf(
    hash,
    [secret, nonce, count, cnonce, 'auth', hashOf(hash, `${request.method}:${uri}`)].join(':'),
  )
  const fields = [
    `username="${username}"`,
    `realm="${escapeQuoted(realm)}"`,
    `nonce="${escapeQuoted(nonce)}"`,
    `uri="${uri}"`,
    `algorithm=${algorithm}`,
    `response="${response}"`,
    ...(opaque === undefined ? [] : [`opaque="${escapeQuoted(opaque)}"`]),
    'qop=auth',
    `nc=${count}`,
    `cnonce="${cnonce}"`,
  ]
  return withHeaders(request, { authorization: `Digest ${fields.join(', ')}` })
}

function escapeQuoted(text: string): string {
  return text.replace(/["\\]/g, '\\$&')
}
