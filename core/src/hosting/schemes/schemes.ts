/** The credential schemes by their names. */
import type { CertificateCredential, Credential } from '../../contract/credentials.ts'
import { Type, Value } from '../../typebox.ts'
import { BreachError } from '../failures.ts'
import { awsSigV4 } from './aws-sig-v4.ts'
import { challenge } from './challenge.ts'
import { digest } from './digest.ts'
import { hmac } from './hmac.ts'
import { oauth2 } from './oauth2.ts'
import { path } from './path.ts'
import type { Scheme } from './scheme.ts'

const name = Type.String({ minLength: 1 })

/** The scheme of a client's certificate, which the host's transport connects with. */
const clientCertificate: Scheme<CertificateCredential> = {
  form: Type.Object(
    { scheme: Type.Literal('clientCertificate'), certificate: name, key: name },
    { additionalProperties: false },
  ),
  options: ({ certificate, key }) => [
    { name: certificate, isSecret: true },
    { name: key, isSecret: true },
  ],
  async spend() {
    throw new BreachError('a client certificate needs no auth: each request is sent with it')
  },
}

const SCHEMES: { readonly [S in Credential['scheme']]: Scheme<Extract<Credential, { readonly scheme: S }>> } = {
  challenge,
  awsSigV4,
  digest,
  hmac,
  path,
  clientCertificate,
  oauth2,
}

/** @returns the problem of a declaration, as text, if it has the form of no scheme */
export function schemeOf(credential: Credential): Scheme | string {
  const { scheme: name } = (typeof credential === 'object' && credential !== null ? credential : {}) as {
    readonly scheme?: unknown
  }
  if (typeof name !== 'string' || !Object.hasOwn(SCHEMES, name))
    return `has no scheme of the contract: write ${Object.keys(SCHEMES).join(', ')}`
  const scheme = SCHEMES[name as Credential['scheme']] as unknown as Scheme
  const form = typeof scheme.form === 'function' ? scheme.form(credential) : scheme.form
  if (Value.Check(form, credential)) return scheme
  const [first] = Value.Errors(form, credential)
  return `${name}${first?.instancePath ?? ''} ${first?.message ?? 'has another form'}`
}
