/** The `sign_in` section of the configuration file: the OpenID provider through which people can sign in. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseUrl } from '@claimcheck/core'
import { type Static, Type } from '@claimcheck/core/plugin'
import { isAllowed } from './allow-private.ts'
import type { Report } from './report.ts'

export interface OidcProvider {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** The provider's name on the sign-in page. */
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

type ReportMember = (member: string, problem: string) => void

interface Context {
  /** File names are relative to this folder. */
  readonly folder: string
  /** `host[:port]` entries for which plain http is allowed. */
  readonly allowPrivate: readonly string[]
  readonly report: Report
}

export function readOidcProvider({ oidc }: SignInSection, { folder, allowPrivate, report }: Context): OidcProvider {
  const reportOf: ReportMember = (member, problem) => report(`sign_in.oidc.${member}: ${problem}`)
  if (!isIssuer(oidc.issuer, allowPrivate)) {
    reportOf(
      'issuer',
      'must be an https address without user, query or fragment (http only for hosts in ALLOW_PRIVATE)',
    )
  }
  return {
    issuer: oidc.issuer,
    clientId: oidc.client_id,
    clientSecret: readSecret(oidc, folder, reportOf),
    name: oidc.name,
  }
}

// OpenID Connect Discovery 1.0, section 3.
function isIssuer(issuer: string, allowPrivate: readonly string[]): boolean {
  const url = parseUrl(issuer)
  if (!url || url.username + url.password + url.search + url.hash !== '' || /[?#]/.test(issuer)) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isAllowed(url, allowPrivate))
}

function readSecret(
  { client_secret: given, client_secret_file: file }: SignInSection['oidc'],
  folder: string,
  reportOf: ReportMember,
): string {
  if ((given === undefined) === (file === undefined)) {
    reportOf('client_secret', 'set exactly one of client_secret and client_secret_file')
    return ''
  }
  if (file === undefined) return given!
  try {
    const secret = readFileSync(resolve(folder, file), 'utf8').trim()
    if (secret === '') reportOf('client_secret_file', 'the file is empty')
    return secret
  } catch (error) {
    reportOf('client_secret_file', `cannot read the file: ${(error as NodeJS.ErrnoException).code}`)
    return ''
  }
}
