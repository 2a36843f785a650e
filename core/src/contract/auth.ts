/**
 * Credentials that a plugin names without holding them. A plugin gets a handle instead of each secret option; the host
 * replaces the handle as it sends the request.
 */
import { type TObject, Type } from '../typebox.ts'

/** The credential of a request. Its secrets are handles, as a connection's options have them. */
export type Auth =
  | { readonly scheme: 'bearer'; readonly token: string }
  | { readonly scheme: 'basic'; readonly username: string; readonly password: string }
  | { readonly scheme: 'header'; readonly name: string; readonly prefix: string; readonly value: string }
  | DeclaredCredential

/** A credential that the connection type declares, and the host spends. */
export interface DeclaredCredential {
  readonly scheme: 'credential'
  readonly name: string
}

/** Sends `Authorization: Bearer <token>`. Without a token the request carries no credential. */
export function bearer(token: string): Auth
export function bearer(token: string | undefined): Auth | undefined
export function bearer(token: string | undefined): Auth | undefined {
  return token === undefined ? undefined : { scheme: 'bearer', token }
}

/** Sends `Authorization: Basic` (RFC 7617) with a username and a password. */
export function basic(username: string, password: string): Auth {
  return { scheme: 'basic', username, password }
}

/** Carries the secret in another header, such as `PRIVATE-TOKEN`. @param prefix precedes the secret in the header's value */
export function header(name: string, value: string, prefix = ''): Auth {
  return { scheme: 'header', name, value, prefix }
}

/** A credential that the connection type declares. @param name its name among the type's `credentials` */
export function credential(name: string): DeclaredCredential {
  return { scheme: 'credential', name }
}

const SECRET = 'x-secret'
const HANDLE = 'secret:'

/** A string option that is stored encrypted and never shown. The plugin gets a handle for it, which `Auth` takes. */
export function secret(options: {
  readonly title?: string
  readonly description: string
  readonly maxLength?: number
}) {
  return Type.String({ minLength: 1, maxLength: 4096, ...options, [SECRET]: true })
}

export function isSecret(schema: object): boolean {
  return (schema as Record<string, unknown>)[SECRET] === true
}

/** Lists the names of the options that `secret()` marks. */
export function secretNames({ options }: { readonly options: TObject }): string[] {
  return Object.keys(options.properties).filter((name) => isSecret(options.properties[name]!))
}

/** The handle that a plugin gets instead of a secret option. */
export function secretHandle(name: string): string {
  return HANDLE + name
}

/** A connection's secrets, by the handles that its plugin gets instead. */
export type SecretValues = ReadonlyMap<string, string>

/** Separates a connection's options, as its plugin gets them, from the secrets. */
export function withoutSecretValues<O extends object>(
  type: { readonly options: TObject },
  options: O,
): { readonly options: O; readonly secrets: SecretValues } {
  const secrets = new Map<string, string>()
  const shown = { ...options } as Record<string, unknown>
  for (const name of secretNames(type)) {
    const value = shown[name]
    if (typeof value !== 'string') continue
    secrets.set(secretHandle(name), value)
    shown[name] = secretHandle(name)
  }
  return { options: shown as O, secrets }
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/

/**
 * The header that carries a credential.
 *
 * @throws TypeError for an `Auth` that names no secret of this connection, or has another form; its text repeats no secret
 */
export function authHeader(auth: Auth, secrets: SecretValues): { readonly name: string; readonly value: string } {
  const secretOf = (handle: unknown) => {
    const value = typeof handle === 'string' ? secrets.get(handle) : undefined
    if (value === undefined)
      throw new TypeError(
        "auth names no secret option of this check's connection; one that its credentials declare is named by credential()",
      )
    return value
  }
  const textOf = (part: unknown) => (typeof part === 'string' && !part.startsWith(HANDLE) ? part : secretOf(part))
  switch (auth.scheme) {
    case 'bearer':
      return { name: 'authorization', value: `Bearer ${secretOf(auth.token)}` }
    case 'basic': {
      // The username may be the secret, too: some destinations take a token there, with an empty password.
      const [username, password] = [auth.username, auth.password].map(textOf)
      return { name: 'authorization', value: `Basic ${toBase64(`${username}:${password}`)}` }
    }
    case 'header':
      if (typeof auth.name !== 'string' || !TOKEN.test(auth.name)) throw new TypeError('auth names no header')
      return { name: auth.name.toLowerCase(), value: String(auth.prefix) + secretOf(auth.value) }
    default:
      throw new TypeError('auth has no scheme that a header carries')
  }
}

function toBase64(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)))
}
