/** The credential schemes by their names. Another one is a module and a line. */
import type { Credential } from '../../contract/credentials.ts'
import { Value } from '../../typebox.ts'
import { awsSigV4 } from './aws-sig-v4.ts'
import { challenge } from './challenge.ts'
import { clientCertificate } from './client-certificate.ts'
import { digest } from './digest.ts'
import { hmac } from './hmac.ts'
import { oauth2 } from './oauth2.ts'
import { path } from './path.ts'
import type { Scheme } from './scheme.ts'

const SCHEMES: { readonly [S in Credential['scheme']]: Scheme<Extract<Credential, { readonly scheme: S }>> } = {
  challenge,
  awsSigV4,
  digest,
  hmac,
  path,
  clientCertificate,
  oauth2,
}

/** @returns what is wrong with a declaration that has the form of no scheme */
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
