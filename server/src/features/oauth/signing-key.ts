/** The signing key that oidc-provider requires, the same on every host. It signs nothing, because the service issues no ID tokens. */
import { createPrivateKey } from 'node:crypto'
import type { JWK } from 'oidc-provider'
import type { Secrets } from '../../base/secrets.ts'

// RFC 8410 7: the prefix of the 32 bytes of an Ed25519 private key.
const PKCS8_ED25519 = Buffer.from('302e020100300506032b657004220420', 'hex')

export const SIGNING_ALGORITHM = 'EdDSA'

export function oauthSigningKey(secrets: Pick<Secrets, 'derive'>): JWK {
  const der = Buffer.concat([PKCS8_ED25519, secrets.derive('oauth signing key')])
  const jwk = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ format: 'jwk' })
  return { ...jwk, alg: SIGNING_ALGORITHM, use: 'sig' } as JWK
}
