/** A certificate of the client: the host's transport connects with it. */
import type { CertificateCredential } from '../../contract/credentials.ts'
import { Type } from '../../typebox.ts'
import { BreachError } from '../breach.ts'
import type { Scheme } from './scheme.ts'

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
