/** A certificate of the client: the host's transport connects with it. */
import { Type } from '../../typebox.ts'
import { BreachError } from '../failures.ts'
import type { Scheme } from './scheme.ts'

/** A certificate of the client. It needs no `auth`: each request to the destination is sent with it. */
export interface CertificateCredential {
  readonly scheme: 'clientCertificate'
  /** The name of the secret option that holds the certificate in PEM. */
  readonly certificate: string
  /** The name of the secret option that holds the private key in PEM. */
  readonly key: string
}

const name = Type.String({ minLength: 1 })

export const clientCertificate: Scheme<CertificateCredential> = {
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
