/** An OAuth server whose refresh tokens rotate, a place that takes its access tokens, and signed assertions as others verify them. */
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import Provider, { type ClientMetadata } from 'oidc-provider'
import type { Test } from 'tap'
import { listen, serve } from './loopback.ts'

export const CLIENT_ID = 'check & reader'
export const CLIENT_SECRET = 's3cret: of the+client/100%'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** Of a client, by the algorithm that signs with them. */
export const KEYS = {
  RS256: { ...rsa, pem: pem(rsa.privateKey, 'pkcs8'), older: pem(rsa.privateKey, 'pkcs1') },
  ES256: { ...ec, pem: pem(ec.privateKey, 'pkcs8'), older: pem(ec.privateKey, 'sec1') },
} as const

function pem(key: typeof rsa.privateKey, type: 'pkcs8' | 'pkcs1' | 'sec1'): string {
  return String(key.export({ type: type as 'pkcs8', format: 'pem' }))
}

export interface AuthorizationServer {
  /** `127.0.0.1:port` */
  readonly host: string
  /** Where a check reads: 200 for a token that the server gave, and 401. */
  readonly url: string
  /** The bodies of the requests for tokens. */
  readonly asked: readonly URLSearchParams[]
  /** How often a refresh token was used that was used before. */
  readonly reused: () => number
  /** As a person gets one who signs in. */
  signIn(): Promise<string>
  /** The destination takes none of the tokens that were given so far. */
  revokeAll(): void
  /** Answers a request for a token, in front of the server; false: the server does. */
  inFront: (request: IncomingMessage, response: ServerResponse) => Promise<boolean> | boolean
}

export async function startAuthorizationServer(
  t: Test,
  { seconds = 3600, ...client }: { readonly seconds?: number } & Partial<ClientMetadata> = {},
): Promise<AuthorizationServer> {
  const server = createServer()
  const host = await listen(t, server)
  const asked: URLSearchParams[] = []
  let reused = 0
  const clientMetadata: ClientMetadata = {
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
    redirect_uris: ['https://127.0.0.1/callback'],
    grant_types: ['client_credentials', 'authorization_code', 'refresh_token'],
    ...client,
  }
  const provider = new Provider(`http://${host}`, {
    clients: [clientMetadata],
    features: {
      clientCredentials: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: { enabled: false },
    },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
    scopes: ['openid', 'offline_access', 'read'],
    rotateRefreshToken: true,
    ttl: { AccessToken: seconds, ClientCredentials: seconds, RefreshToken: 86_400, Grant: 86_400 },
    cookies: { keys: ['a key of the test'] },
    findAccount: (_context, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  })
  provider.on('grant.error', (_context, error) => {
    if (String(error.error_detail).includes('already used')) reused++
  })
  const state: Pick<AuthorizationServer, 'inFront'> = { inFront: () => false }
  provider.use(async (context, next) => {
    await next()
    if (context.path === '/token') asked.push(new URLSearchParams({ ...(context.oidc?.params as object) }))
  })
  const callback = provider.callback()
  server.on('request', async (request, response) => {
    if (await state.inFront(request, response)) return
    void callback(request, response)
  })
  const known = new Set<string>()
  const revoked = new Set<string>()
  const place = await serve(t, async (request, response) => {
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? ''
    const found = (await provider.AccessToken.find(token)) ?? (await provider.ClientCredentials.find(token))
    const isGood = found !== undefined && !revoked.has(token)
    if (isGood) known.add(token)
    response.writeHead(isGood ? 200 : 401, { 'www-authenticate': 'Bearer error="invalid_token"' }).end('read')
  })
  return Object.assign(state, {
    host,
    url: `http://${place}`,
    asked,
    reused: () => reused,
    revokeAll() {
      for (const token of known) revoked.add(token)
    },
    async signIn() {
      const found = await provider.Client.find(CLIENT_ID)
      const grant = new provider.Grant({ accountId: 'ann', clientId: CLIENT_ID })
      grant.addOIDCScope('openid offline_access')
      const grantId = await grant.save()
      const token = new provider.RefreshToken({
        accountId: 'ann',
        client: found!,
        grantId,
        scope: 'openid offline_access',
        gty: 'authorization_code',
      } as never)
      return token.save()
    },
  })
}

/** Holds the next answer of the server: it has taken the refresh token. */
export function holdAnswer(server: AuthorizationServer) {
  let release = () => {}
  const isReleased = new Promise<void>((resolve) => {
    release = resolve
  })
  const isAsked = new Promise<void>((resolve) => {
    server.inFront = (_request, response) => {
      server.inFront = () => false
      const end = response.end.bind(response)
      response.end = ((...parts: []) => {
        resolve()
        void isReleased.then(() => end(...parts))
        return response
      }) as never
      return false
    }
  })
  return { isAsked, release }
}

export interface Verified {
  readonly header: Record<string, unknown>
  readonly claims: Record<string, unknown>
}

/** As any server verifies it. Undefined for one that no key of these signed. */
export function verified(jwt: string): Verified | undefined {
  const [header = '', claims = '', signature = ''] = jwt.split('.')
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString())
  const { alg } = read(header) as { readonly alg: keyof typeof KEYS }
  const key = { key: createPublicKey(KEYS[alg].privateKey), dsaEncoding: 'ieee-p1363' } as const
  const isSigned = verify('sha256', Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url'))
  return isSigned ? { header: read(header), claims: read(claims) } : undefined
}
