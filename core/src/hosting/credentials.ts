/** Credentials that connection types declare: their problems, the secrets that they bind, and how a request spends one. */
import { type Auth, type DeclaredCredential, isSecret, type SecretValues, secretHandle } from '../contract/auth.ts'
import type { ConnectionType } from '../contract/connection.ts'
import { DestinationError } from '../contract/destination-error.ts'
import type { Manifest } from '../contract/plugin.ts'
import { BreachError } from './failures.ts'
import { optionOfConnection, type TypedOptions } from './grants.ts'
import type { CertificateCredential } from './schemes/client-certificate.ts'
import type { AccessToken, CredentialMemory, Outgoing, Refreshes, SchemeHost, TokenHost } from './schemes/scheme.ts'
import { type Credential, schemeOf } from './schemes/schemes.ts'

/** The connection that a check reads through, as the host knows it. */
export interface Connected {
  /** The options as the workspace typed them, secrets in clear. */
  readonly options: TypedOptions
  /** The credentials that the connection's type declares. */
  readonly credentials?: ConnectionType['credentials'] | undefined
  /** Token hosts in the manifest of the plugin of the connection's type. */
  readonly tokenHosts?: readonly string[] | undefined
  readonly memory: CredentialMemory
  /** The refreshes of the connection's tokens; undefined where no tokens are stored. */
  readonly refreshes?: Refreshes | undefined
}

/** Lists the problems of a type's credentials, each with its position. */
export function credentialProblems({
  credentials = {},
  options,
}: Pick<ConnectionType, 'credentials' | 'options'>): string[] {
  const refreshed = Object.values(credentials).flatMap((one) => ('refreshToken' in one ? [one.refreshToken] : []))
  const properties = options.properties as Readonly<Record<string, object | undefined>>
  return Object.entries(credentials).flatMap(([name, credential]) => {
    const scheme = schemeOf(credential)
    if (typeof scheme === 'string') return [`${name}: ${scheme}`]
    const wrong = scheme.options(credential).flatMap(({ name: option, isSecret: expected }) => {
      const schema = Object.hasOwn(properties, option) ? properties[option] : undefined
      if (!schema) return [`there is no option ${option}`]
      if (expected === undefined || expected === isSecret(schema)) return []
      return [
        expected ? `the option ${option} is not a secret: mark it with secret()` : `the option ${option} is a secret`,
      ]
    })
    const isShared =
      'refreshToken' in credential && refreshed.filter((option) => option === credential.refreshToken).length > 1
    const shared = isShared ? [`the option ${credential.refreshToken} is the refresh token of another one, too`] : []
    return [...wrong, ...shared, ...(scheme.problems?.(credential) ?? [])].map((problem) => `${name}: ${problem}`)
  })
}

/** Lists the host entries of a manifest that name an option of no connection. @param types those that the plugin offers or reads through */
export function hostOptionProblems(
  { hosts, tokenHosts = [] }: Pick<Manifest, 'hosts' | 'tokenHosts'>,
  types: readonly Pick<ConnectionType, 'options'>[],
): string[] {
  const isOption = (name: string) =>
    types.some(({ options: { properties } }) => {
      const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
      return schema !== undefined && !isSecret(schema)
    })
  return [...hosts, ...tokenHosts].flatMap((entry) => {
    const option = optionOfConnection(entry)
    return option === undefined || isOption(option)
      ? []
      : [`${entry}: no connection type has an option ${option} that is not secret`]
  })
}

/** The secrets that a header may carry, because no declaration binds them. */
export function unboundSecrets(
  secrets: SecretValues,
  { credentials = {} }: Pick<Connected, 'credentials'> = {},
): SecretValues {
  const bound = new Set(
    Object.values(credentials).flatMap((credential) => {
      const scheme = schemeOf(credential)
      return typeof scheme === 'string' ? [] : scheme.options(credential).map(({ name }) => secretHandle(name))
    }),
  )
  return bound.size === 0 ? secrets : new Map([...secrets].filter(([handle]) => !bound.has(handle)))
}

/** Sends a request, and spends a credential on it. */
export type Spend = (request: Outgoing, host: SchemeHost) => Promise<Response>

/**
 * Finds the declared credential of a request.
 * @returns undefined for a credential that a header carries, or none
 * @throws BreachError for a name that the connection type does not declare
 */
export function declaredSpend(auth: Auth | undefined, connected: Connected | undefined): Spend | undefined {
  if (auth?.scheme !== 'credential') return undefined
  const { scheme, credential, memoryIn } = declaredScheme(auth, connected)
  return (request, host) => scheme.spend(credential, request, { ...host, memory: memoryIn(host) })
}

/** Gets an access token of a credential. @param refused a token that the destination refused */
export type GetToken = (host: TokenHost, refused?: AccessToken) => Promise<AccessToken>

/** Finds the declared credential of a login. @throws BreachError for one that is not declared, or has no access tokens */
export function declaredToken(secret: DeclaredCredential, connected: Connected | undefined): GetToken {
  const { scheme, credential, memoryIn } = declaredScheme(secret, connected)
  const { token } = scheme
  if (!token) throw new BreachError(`a login shows access tokens, and the scheme ${credential.scheme} has none`)
  return (host, refused) => token(credential, { ...host, memory: memoryIn(host) }, refused)
}

/**
 * Makes a keyed fingerprint by a declared key.
 * @throws BreachError for a name that is not declared, or is no key of fingerprints
 * @throws DestinationError `misconfigured`
 */
export function declaredFingerprint(key: DeclaredCredential, text: string, connected: Connected | undefined): string {
  const { scheme, credential } = declaredScheme(key, connected)
  if (!scheme.fingerprint) throw new BreachError(`the scheme ${credential.scheme} makes no fingerprints`)
  return scheme.fingerprint(credential, text, optionReader(connected!))
}

function declaredScheme({ name }: DeclaredCredential, connected: Connected | undefined) {
  const { credentials = {} } = connected ?? {}
  const credential = typeof name === 'string' && Object.hasOwn(credentials, name) ? credentials[name]! : undefined
  if (credential === undefined)
    throw new BreachError('auth names no credential that the type of the connection declares')
  const scheme = schemeOf(credential)
  if (typeof scheme === 'string') throw new BreachError(scheme)
  return { scheme, credential, memoryIn: ({ memory }: TokenHost) => memoryOf(memory, name) }
}

/** The memory of one declaration, because the token of another was given for other credentials. */
function memoryOf(memory: CredentialMemory, name: string): CredentialMemory {
  const named = (key: string) => JSON.stringify([name, key])
  return {
    get: (key) => memory.get(named(key)),
    set: (key, value, until) => memory.set(named(key), value, until),
    delete: (key) => memory.delete(named(key)),
    once: (key, work) => memory.once(named(key), work),
  }
}

/** Reads a connection's options for a credential scheme. */
export function optionReader({ options }: Pick<Connected, 'options'>): Pick<TokenHost, 'value' | 'required'> {
  function value(option: string | undefined): string | undefined {
    const found = option !== undefined && Object.hasOwn(options, option) ? options[option] : undefined
    return found === undefined || found === '' ? undefined : String(found)
  }
  return {
    value,
    required(option) {
      const found = value(option)
      if (found === undefined) throw new DestinationError('misconfigured')
      return found
    },
  }
}

/** A client's certificate and private key, and the authorities that its destination's certificate comes from, in PEM. */
export interface ClientCertificate {
  readonly certificate?: string | undefined
  readonly key?: string | undefined
  readonly authority?: string | undefined
}

/** The certificates that each request to the destination is sent with. @throws DestinationError `misconfigured` for one without its key */
export function certificateOf(connected: Omit<Connected, 'memory'> | undefined): ClientCertificate | undefined {
  const declared = Object.values(connected?.credentials ?? {}).find(isCertificate)
  if (!connected || !declared) return undefined
  const { value } = optionReader(connected)
  const [certificate, key, authority] = [declared.certificate, declared.key, declared.authority].map((option) =>
    inLines(value(option)),
  )
  if ((certificate === undefined) !== (key === undefined)) throw new DestinationError('misconfigured')
  return certificate === undefined && authority === undefined ? undefined : { certificate, key, authority }
}

const PEM = /-----BEGIN ([A-Z0-9 ]{1,40})-----([A-Za-z0-9+/=\s]*)-----END \1-----/g

/** Writes PEM in lines again: browsers take their ends out of what is pasted into a field for a secret, and TLS needs them. */
function inLines(pem: string | undefined): string | undefined {
  return pem?.replace(PEM, (_, label: string, base64: string) => {
    const lines = base64.replaceAll(/\s/g, '').match(/.{1,64}/g) ?? []
    return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
  })
}

function isCertificate(credential: Credential): credential is CertificateCredential {
  return credential.scheme === 'clientCertificate'
}
