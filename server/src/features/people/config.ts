/** The `sign_in` section of the configuration file: when sessions end, and the OpenID provider through which people can sign in. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseUrl, type Static, Type } from '@claimcheck/core/plugin'
import { isAllowed } from '../../config/allow-private.ts'
import { type ConfigContext, closed, type MembersOf, type Report } from '../../config/section.ts'
import { limitsConfig } from '../workspaces/limits-config.ts'

const HOUR_MS = 60 * 60_000

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })

const OidcSection = closed({
  issuer: text(1024),
  client_id: text(512),
  client_secret: Type.Optional(text(2048)),
  client_secret_file: Type.Optional(text(4096)),
  name: text(64),
})

const SignInSection = closed({
  session_idle_hours: Type.Optional(Type.Integer({ minimum: 1, maximum: 8760 })),
  session_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365 })),
  oidc: Type.Optional(OidcSection),
})

type ReportMember = (member: string, problem: string) => void

function readSessionEnds(section: Static<typeof SignInSection>, report: Report) {
  const { session_idle_hours: hours = 24, session_days: days = 14 } = section
  const ends = {
    /** The time without a request after which a session ends. */
    idleMs: hours * HOUR_MS,
    /** The time since the sign-in after which a session ends, however often it is used. */
    longestMs: days * 24 * HOUR_MS,
  }
  if (ends.idleMs > ends.longestMs) {
    report(`sign_in.session_idle_hours: ${hours} hours are longer than session_days, after which a session ends anyway`)
  }
  return ends
}

function readOidcProvider(
  oidc: Static<typeof OidcSection>,
  { folder, allowPrivate, report }: Pick<ConfigContext, 'folder' | 'allowPrivate' | 'report'>,
) {
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
    /** The provider's name on the sign-in page. */
    name: oidc.name,
  }
}

// OpenID Connect Discovery 1.0, section 3, says what an issuer is.
function isIssuer(issuer: string, allowPrivate: readonly string[]): boolean {
  const url = parseUrl(issuer)
  if (!url || url.username + url.password + url.search + url.hash !== '' || /[?#]/.test(issuer)) return false
  return url.protocol === 'https:' || (url.protocol === 'http:' && isAllowed(url, allowPrivate))
}

function readSecret(
  { client_secret: given, client_secret_file: file }: Static<typeof OidcSection>,
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

export const peopleConfig = {
  file: { sign_in: Type.Optional(SignInSection), ...limitsConfig.file },
  read: (file: { readonly sign_in?: Static<typeof SignInSection> }, context: ConfigContext) => ({
    ...limitsConfig.read(file),
    /** The times after which sessions at the console end. */
    sessionEnds: readSessionEnds(file.sign_in ?? {}, context.reportInFile),
    /** The OpenID provider through which people can sign in, if the file configures one. */
    oidcSignIn: file.sign_in?.oidc && readOidcProvider(file.sign_in.oidc, context),
  }),
}

export type PeopleConfig = MembersOf<typeof peopleConfig>
export type SessionEnds = PeopleConfig['sessionEnds']
export type OidcProvider = NonNullable<PeopleConfig['oidcSignIn']>
