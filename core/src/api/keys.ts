/** The wire format of the key document, with which receipts, tree heads and anchors are checked. */
import { type Static, Type } from '../typebox.ts'
import { Hash, nullable, Timestamp } from './primitives.ts'

export const KeyDocument = Type.Object(
  {
    issuer: Type.String(),
    log_id: Hash,
    keys: Type.Array(
      Type.Object(
        {
          key_id: Type.String({ pattern: '^ed25519:[A-Za-z0-9_-]{43}$' }),
          public_key: Type.String({ description: 'The raw 32 bytes, base64url.' }),
          valid_from: Timestamp,
          revoked_at: nullable(Timestamp),
          jwk: Type.Object(
            {
              kty: Type.Literal('OKP'),
              crv: Type.Literal('Ed25519'),
              kid: Type.String({ description: 'The `key_id`.' }),
              x: Type.String({ description: 'The `public_key`.' }),
            },
            { title: 'JsonWebKey', description: 'The same key by RFC 8037, for libraries that read JSON Web Keys.' },
          ),
        },
        { title: 'SigningKey' },
      ),
      { description: 'Retired keys stay listed.' },
    ),
    anchor_addresses: Type.Array(Type.String()),
    anchor_schemas: Type.Array(Type.String()),
  },
  { title: 'KeyDocument' },
)
export type KeyDocument = Static<typeof KeyDocument>
