/** HTTP digest authentication, RFC 7616: the destination gets a digest of the password, and the plugin nothing of it. */
import type { DigestCredential } from '../../contract/credentials.ts'
import { DestinationError } from '../../contract/destination-error.ts'
import { Type } from '../../typebox.ts'
import { type HashName, hashOf } from './hashes.ts'
import { shown, targetOf, withHeaders } from './messages.ts'
import type { Outgoing, Scheme, SchemeHost } from './scheme.ts'
import { challengesOf } from './www-authenticate.ts'

const name = Type.String({ minLength: 1 })

export const digest: Scheme<DigestCredential> = {
  form: Type.Object(
    { scheme: Type.Literal('digest'), username: name, password: name },
    { additionalProperties: false },
  ),
  options: ({ username, password }) => [{ name: username }, { name: password, isSecret: true }],
  async spend(credential, request, host) {
    const kept = keptChallenge(host)
    const first = await host.send(kept ? answered(credential, request, kept, host) : request)
    if (first.status !== 401) return shown(first)
    host.memory.delete(KEY)
    const asked = strongest(first.headers)
    if (!asked) return shown(first)
    await first.body?.cancel()
    return shown(await host.send(answered(credential, request, { ...asked, uses: 0 }, host)))
  },
}

interface Asked {
  readonly algorithm: string
  readonly realm: string
  readonly nonce: string
  readonly opaque?: string | undefined
}

interface Kept extends Asked {
  /** How many requests have used the nonce. */
  readonly uses: number
}

const KEY = 'digest'
const KEPT_MS = 5 * 60_000

function keptChallenge({ memory }: SchemeHost): Kept | undefined {
  const kept = memory.get(KEY)
  return kept === undefined ? undefined : JSON.parse(kept)
}

/** The strongest last. */
const ALGORITHMS: ReadonlyMap<string, HashName> = new Map([
  ['MD5', 'md5'],
  ['SHA-256', 'sha256'],
  ['SHA-512-256', 'sha512-256'],
])

function strongest(headers: Headers): Asked | undefined {
  const asked = challengesOf(headers).flatMap(({ scheme, parameters }) => {
    const algorithm = (parameters.get('algorithm') ?? 'MD5').toUpperCase()
    const [realm, nonce] = [parameters.get('realm'), parameters.get('nonce')]
    const qops = (parameters.get('qop') ?? '').split(',').map((qop) => qop.trim())
    if (scheme !== 'digest' || realm === undefined || nonce === undefined) return []
    // Without qop the destination could take the digest for another request.
    if (!qops.includes('auth') || !ALGORITHMS.has(algorithm.replace(/-SESS$/, ''))) return []
    return [{ algorithm, realm, nonce, opaque: parameters.get('opaque') }]
  })
  const strength = ({ algorithm }: Asked) => [...ALGORITHMS.keys()].indexOf(algorithm.replace(/-SESS$/, ''))
  return asked.toSorted((one, other) => strength(other) - strength(one))[0]
}

function answered(credential: DigestCredential, request: Outgoing, asked: Kept, host: SchemeHost): Outgoing {
  const { algorithm, realm, nonce, opaque } = asked
  const uses = asked.uses + 1
  host.memory.set(KEY, JSON.stringify({ ...asked, uses }), host.now() + KEPT_MS)
  const hash = ALGORITHMS.get(algorithm.replace(/-SESS$/, ''))!
  const username = host.required(credential.username)
  // A quoted string cannot carry it otherwise, and the header of one user could become that of another.
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
    `realm="${escaped(realm)}"`,
    `nonce="${escaped(nonce)}"`,
    `uri="${uri}"`,
    `algorithm=${algorithm}`,
    `response="${response}"`,
    ...(opaque === undefined ? [] : [`opaque="${escaped(opaque)}"`]),
    'qop=auth',
    `nc=${count}`,
    `cnonce="${cnonce}"`,
  ]
  return withHeaders(request, { authorization: `Digest ${fields.join(', ')}` })
}

function escaped(text: string): string {
  return text.replace(/["\\]/g, '\\$&')
}
