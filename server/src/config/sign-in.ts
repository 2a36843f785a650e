/** The outside OpenID provider through which people may sign in, as the configuration file names it. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Static, Type } from 'typebox'
import { isAllowed } from './allow-private.ts'

export interface OidcProvider {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** As people know it. */
  readonly name: string
}

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })

export const SignInSection = Type.Object(
  {
    oidc: Type.Object(
      {
        issuer: text(1024),
        client_id: text(512),
        client_secret: Type.Optional(text(2048)),
        client_secret_file: Type.Optional(text(4096)),
        name: text(64),
      },
      { additionalProperties: false },
    ),
  },
  { additionalProperties: false },
)
export type SignInSection = Static<typeof SignInSection>

interface Surroundings {
  /** What file names are relative to. */
  readonly folder: string
  /** `host[:port]` entries that may be reached by plain http. */
  readonly allowPrivate: readonly string[]
  /** Is told every problem. */
  readonly complain: (problem: string) => void
}

export function readOidcProvider(
  { oidc }: SignInSection,
  { folder, allowPrivate, complain }: Surroundings,
): OidcProvider {
  const say = (member: string, problem: string) => complain(`sign_in.oidc.${member}: ${problem}`)
  if (!isIssuer(oidc.issuer, allowPrivate)) {
    say('issuer', 'an https address without user, query or fragment (http for what ALLOW_PRIVATE names)')
  }
  return {
    issuer: oidc.issuer,
    clientId: oidc.client_id,
    clientSecret: readSecret(oidc, folder, say),
    name: oidc.name,
  }
}

// OpenID Connect Discovery 1.0, section 3.
function isIssuer(issuer: string, allowPrivate: readonly string[]): boolean {
  const url = URL.canParse(issuer) ? new URL(issuer) : undefined
  if (!url || url.username + url.password + url.search + url.hash !== '' || /[?#]/.test(issuer)) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isAllowed(url, allowPrivate))
}

function readSecret(
  { client_secret: given, client_secret_file: file }: SignInSection['oidc'],
  folder: string,
  say: (member: string, problem: string) => void,
): string {
  if ((given === undefined) === (file === undefined)) {
    say('client_secret', 'either this or client_secret_file')
    return ''
  }
  if (file === undefined) return given!
  try {
    const secret = readFileSync(resolve(folder, file), 'utf8').trim()
    if (secret === '') say('client_secret_file', 'the file is empty')
    return secret
  } catch (error) {
    say('client_secret_file', `cannot be read: ${(error as NodeJS.ErrnoException).code}`)
    return ''
  }
}
