/**
 * Uses of a connection's secrets by the host, on the requests of its checks. A connection type declares each use as data, by the names of
 * its options; a request names the declaration and nothing else, so that a plugin has no text signed that it could choose. A secret that
 * a declaration names is spent by that declaration alone.
 */

export type Credential =
  | ChallengeCredential
  | SigV4Credential
  | DigestCredential
  | HmacCredential
  | PathCredential
  | CertificateCredential
  | OAuth2Credential

/**
 * Bearer tokens of container registries: the host answers `WWW-Authenticate: Bearer realm="..."` with a token from that realm, which has to
 * be the destination itself or one of the manifest's `tokenHosts`. It asks for `pull` alone, and for the repository of the request. Without
 * a username and a password it asks as anybody.
 */
export interface ChallengeCredential {
  readonly scheme: 'challenge'
  /** The name of an option. */
  readonly username?: string
  /** The name of a secret option. */
  readonly password?: string
}

/** Signature version 4 of AWS, and of other services that speak S3. The host signs GET and HEAD as it sends them. */
export interface SigV4Credential {
  readonly scheme: 'awsSigV4'
  /** The name of the service, such as `s3`. */
  readonly service: string
  /** The name of an option; `us-east-1` where nothing was typed. */
  readonly region: string
  /** The name of an option, secret or not. */
  readonly accessKeyId: string
  /** The name of a secret option. */
  readonly secretAccessKey: string
  /** The name of a secret option, for temporary credentials. */
  readonly sessionToken?: string
  /** The values that a query may have as its `Action`, for services that take actions with GET. Defaults to none, as an action may change something. */
  readonly actions?: readonly string[]
}

/** HTTP digest authentication (RFC 7616) with `qop=auth` and MD5, SHA-256 or SHA-512-256. */
export interface DigestCredential {
  readonly scheme: 'digest'
  /** The name of an option. */
  readonly username: string
  /** The name of a secret option. */
  readonly password: string
}

/**
 * A message authentication code over the host's own request. Templates are made of text and `{method}`, `{host}`, `{path}`, `{query}` (as
 * sent, without its `?`), `{target}` (the path, with `?` and the query where there is one), `{date}`, `{nonce}`, `{body}` (the digest of the
 * body) and `{option.<name>}` of an option that is not secret; headers also of `{signature}`.
 */
export interface HmacCredential {
  readonly scheme: 'hmac'
  /** The name of a secret option. */
  readonly key: string
  /** The encoding of the key. Defaults to `text`. */
  readonly keyEncoding?: 'text' | 'base64' | 'hex'
  readonly hash: 'sha1' | 'sha256' | 'sha512'
  /** The encoding of the signature, and of the digest of the body. */
  readonly encoding: 'hex' | 'base64'
  /** The form of `{date}`: RFC 9110, RFC 3339, or time since 1970. */
  readonly date?: 'http' | 'iso' | 'seconds' | 'milliseconds'
  readonly message: string
  /** Templates of the headers that the host sets, by name. */
  readonly headers: Readonly<Record<string, string>>
}

/** A secret in the path, such as `/bot<token>/getMe`. The URL has the handle of the option where the secret belongs, once, as all of a segment. */
export interface PathCredential {
  readonly scheme: 'path'
  /** The name of a secret option. */
  readonly secret: string
  /** Text before the secret in its segment, such as `bot`. */
  readonly prefix?: string
}

/** A certificate of the client. It needs no `auth`: each request to the destination is sent with it. */
export interface CertificateCredential {
  readonly scheme: 'clientCertificate'
  /** The name of a secret option, in PEM. */
  readonly certificate: string
  /** The name of a secret option, in PEM. */
  readonly key: string
}

/**
 * An access token that the host gets from a token endpoint and sends as `Authorization: Bearer`. Nothing of a check's request reaches the
 * token request or what is signed for it. The token endpoint has to be the destination itself or one of the manifest's `tokenHosts`.
 */
export type OAuth2Credential = ClientCredentials | RefreshTokenCredential | JwtBearerCredential | GitHubAppCredential

/** Text in which `{option.<name>}` is what the workspace typed into an option that is not secret. */
type OptionTemplate = string

/** The client's authentication at the token endpoint. Without a secret and a key it names its id only. */
interface OAuth2Client {
  /** The name of an option. */
  readonly clientId: string
  /** The name of a secret option. */
  readonly clientSecret?: string
  /** The place of the secret in the request. Defaults to `basic`. */
  readonly authentication?: 'basic' | 'post'
  /** The name of a secret option, in PEM: `private_key_jwt` of OpenID Connect, signed with RS256 or ES256 as the key has it. */
  readonly privateKey?: string
  /** The name of an option: the `kid` of that key. */
  readonly keyId?: string
}

interface TokenRequest {
  readonly scheme: 'oauth2'
  readonly tokenUrl: OptionTemplate
  readonly scope?: OptionTemplate
  readonly audience?: OptionTemplate
}

/** The grant of client credentials (RFC 6749 4.4). */
export interface ClientCredentials extends TokenRequest, OAuth2Client {
  readonly grant: 'clientCredentials'
}

/** The grant of a refresh token (RFC 6749 6). Each refresh may bring another refresh token, which the host stores before it uses the access token. */
export interface RefreshTokenCredential extends TokenRequest, OAuth2Client {
  readonly grant: 'refreshToken'
  /** The name of a secret option. */
  readonly refreshToken: string
}

/** The grant of a JWT (RFC 7523 2.1), signed with RS256 or ES256 by the kind of key. */
export interface JwtBearerCredential extends TokenRequest {
  readonly grant: 'jwtBearer'
  /** The name of a secret option: a private key in PEM, or the JSON file of a service account of Google. */
  readonly privateKey: string
  /** The name of an option: `iss`. Left out where the JSON file says it. */
  readonly issuer?: string
  /** The name of an option: `sub`. Defaults to the issuer. */
  readonly subject?: string
  /** The name of an option: `kid`. Left out where the JSON file says it, if at all. */
  readonly keyId?: string
}

/** An installation of a GitHub App. */
export interface GitHubAppCredential {
  readonly scheme: 'oauth2'
  readonly grant: 'githubApp'
  /** The address of the API, such as `https://api.github.com`. */
  readonly apiUrl: OptionTemplate
  /** The name of an option: the app's id or its client id. */
  readonly appId: string
  /** The name of an option. */
  readonly installationId: string
  /** The name of a secret option, in PEM. */
  readonly privateKey: string
  /** The permissions of the tokens, out of the installation's. Defaults to all of them, writing included. */
  readonly permissions?: Readonly<Record<string, 'read'>>
}
