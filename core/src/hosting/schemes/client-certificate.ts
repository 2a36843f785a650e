/** A certificate of the client, and authorities of the destination's: the host's transport connects with them. */
import { Type } from '../../typebox.ts'
import { BreachError } from '../failures.ts'
import type { Scheme } from './scheme.ts'

/** A certificate of the client, and authorities of the destination's. They need no `auth`: each request to the destination is sent with them. */
export interface CertificateCredential {
  readonly scheme: 'clientCertificate'
  /** The name of the secret option that holds the certificate in PEM. */
  readonly certificate: string
  /** The name of the secret option that holds the private key in PEM. */
  readonly key: string
  /**
   * The name of the secret option that holds certificates of authorities in PEM, one of which the destination's has to come from. Where nothing was
   * typed, those that the host trusts count.
   */
  readonly authority?: string
}

const name = Type.String({ minLength: 1 })

export const clientCertificate: Scheme<CertificateCredential> = {
  form: Type.Object(
    { scheme: Type.Literal('clientCertificate'), certificate: name, key: name, authority: Type.Optional(name) },
    { additionalProperties: false },
  ),
  options: ({ certificate, key, authority }) =>
    [certificate, key, authority].flatMap((option) => (option === undefined ? [] : [{ name: option, isSecret: true }])),
  async spend() {
    throw new BreachError('a client certificate needs no auth: each request is sent with it')
  },
}
