/** The `sign_in` section of the configuration file: when sessions end, and the OpenID provider through which people can sign in. */
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { parseUrl, type Static, Type } from '@claimcheck/core/plugin'
import { isAllowed } from '../../config/allow-private.ts'
import type { ConfigContext, ConfigSection, Report } from '../../config/section.ts'
import { closed } from '../../config/settings.ts'
import { type LimitsConfig, limitsConfig } from '../workspaces/limits-config.ts'

export interface OidcProvider {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** The provider's name on the sign-in page. */
  readonly name: string
}

/** The times after which sessions at the console end. */
export interface SessionEnds {
  /** The time without a request after which a session ends. */
  readonly idleMs: number
  /** The time since the sign-in after which a session ends, however often it is used. */
  readonly longestMs: number
}

export interface PeopleConfig extends LimitsConfig {
  readonly sessionEnds: SessionEnds
  /** The OpenID provider through which people can sign in, if the file configures one. */
  readonly oidcSignIn: OidcProvider | undefined
}

const HOUR_MS = 60 * 60_000
const DAY_MS = 24 * HOUR_MS
const DEFAULT_IDLE_HOURS = 24
const DEFAULT_DAYS = 14

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

function readSessionEnds(section: Static<typeof SignInSection>, report: Report): SessionEnds {
  const { session_idle_hours: hours = DEFAULT_IDLE_HOURS, session_days: days = DEFAULT_DAYS } = section
  const ends = { idleMs: hours * HOUR_MS, longestMs: days * DAY_MS }
  if (ends.idleMs > ends.longestMs) {
    report(`sign_in.session_idle_hours: ${hours} hours are longer than session_days, after which a session ends anyway`)
  }
  return ends
}

function readOidcProvider(
  oidc: Static<typeof OidcSection>,
  { folder, allowPrivate, report }: Pick<ConfigContext, 'folder' | 'allowPrivate' | 'report'>,
): OidcProvider {
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

export const peopleConfig: ConfigSection<PeopleConfig> = {
  file: { sign_in: Type.Optional(SignInSection), ...limitsConfig.file },
  read: ({ sign_in: section = {}, ...others }: { readonly sign_in?: Static<typeof SignInSection> }, context) => ({
    ...limitsConfig.read(others, context),
    sessionEnds: readSessionEnds(section, context.reportInFile),
    oidcSignIn: section.oidc && readOidcProvider(section.oidc, context),
  }),
}
