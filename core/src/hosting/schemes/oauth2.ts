/** Access tokens of OAuth 2: gets them where the declaration says, remembers them, and replaces one that the destination refuses. */
import { objectIn } from '../../json.ts'
import { type TSchema, Type } from '../../typebox.ts'
import { hideCredentials, withHeaders, withoutStatus } from './messages.ts'
import { newToken, type OAuth2Credential } from './oauth2-requests.ts'
import { type AccessToken, isFresh, type NamedOption, type Scheme, type TokenHost } from './scheme.ts'
import { namesIn, OPTION, shownOptionsIn } from './templates.ts'

const name = Type.String({ minLength: 1 })
const template = Type.String({ minLength: 1, maxLength: 1024 })
const request = {
  scheme: Type.Literal('oauth2'),
  tokenUrl: template,
  scope: Type.Optional(template),
}
const client = {
  clientId: name,
  clientSecret: Type.Optional(name),
  authentication: Type.Optional(Type.Union([Type.Literal('basic'), Type.Literal('post')])),
}
const closed = { additionalProperties: false }

const FORMS: Readonly<Record<OAuth2Credential['grant'], TSchema>> = {
  clientCredentials: Type.Object(
    { ...request, ...client, grant: Type.Literal('clientCredentials'), clientSecret: name },
    closed,
  ),
  refreshToken: Type.Object(
    {
      ...request,
      ...client,
      grant: Type.Literal('refreshToken'),
      refreshToken: name,
    },
    closed,
  ),
  jwtBearer: Type.Object({ ...request, grant: Type.Literal('jwtBearer'), privateKey: name }, closed),
  githubApp: Type.Object(
    {
      scheme: request.scheme,
      grant: Type.Literal('githubApp'),
      apiUrl: template,
      appId: name,
      installationId: name,
      privateKey: name,
      permissions: Type.Record(Type.String({ pattern: '^[a-z_]{1,64}$' }), Type.Literal('read'), {
        ...closed,
        minProperties: 1,
      }),
    },
    closed,
  ),
}
const NO_GRANT = Type.Object({ grant: Type.Union(Object.keys(FORMS).map((grant) => Type.Literal(grant))) })

export const oauth2: Scheme<OAuth2Credential> = {
  form: ({ grant }) => (Object.hasOwn(FORMS, grant) ? FORMS[grant] : NO_GRANT),
  options: (credential) => [...namedBy(credential), ...shownOptionsIn(templatesOf(credential))],
  problems(credential) {
    const unknown = templatesOf(credential)
      .flatMap(namesIn)
      .filter((part) => !part.startsWith(OPTION))
      .map((part) => `names {${part}}: write {option.<name>}`)
    if (!('clientId' in credential)) return unknown
    const { clientSecret, authentication } = credential
    return authentication !== undefined && clientSecret === undefined
      ? [...unknown, 'authentication needs a clientSecret']
      : unknown
  },
  async spend(credential, request, host) {
    const token = await tokenOf(credential, host)
    const send = ({ accessToken }: AccessToken) =>
      host.send(withHeaders(request, { authorization: `Bearer ${accessToken}` }))
    const first = await send(token)
    if (first.status !== 401 || isFresh(token, host.now())) return hideCredentials(first)
    await first.body?.cancel()
    return hideCredentials(await send(await tokenOf(credential, host, token)))
  },
  token: tokenOf,
}

function namedBy(credential: OAuth2Credential): NamedOption[] {
  const secret = (option: string | undefined) => (option === undefined ? [] : [{ name: option, isSecret: true }])
  const any = (option: string) => [{ name: option }]
  switch (credential.grant) {
    case 'jwtBearer':
      return secret(credential.privateKey)
    case 'githubApp':
      return [...secret(credential.privateKey), ...any(credential.appId), ...any(credential.installationId)]
    default:
      return [
        ...secret(credential.clientSecret),
        ...any(credential.clientId),
        ...secret(credential.grant === 'refreshToken' ? credential.refreshToken : undefined),
      ]
  }
}

function templatesOf(credential: OAuth2Credential): string[] {
  if (credential.grant === 'githubApp') return [credential.apiUrl]
  const { tokenUrl, scope } = credential
  return scope === undefined ? [tokenUrl] : [tokenUrl, scope]
}

const TOKEN = 'token'

async function tokenOf(credential: OAuth2Credential, host: TokenHost, refused?: AccessToken): Promise<AccessToken> {
  const { memory, now } = host
  const isUsable = ({ accessToken, until }: AccessToken) => accessToken !== refused?.accessToken && until > now()
  const stored = memory.get(TOKEN)
  const kept = stored === undefined ? undefined : (objectIn(stored) as unknown as AccessToken)
  if (kept && isUsable(kept)) return kept
  return memory.once(TOKEN, async () => {
    const token = await newToken(credential, host, isUsable).catch((error: unknown) => {
      throw withoutStatus(error)
    })
    memory.set(TOKEN, JSON.stringify(token), token.until)
    return token
  })
}
