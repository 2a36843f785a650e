/** The wire format of a credential's rights. */
import { type Static, Type } from '../typebox.ts'
import { nullable } from './primitives.ts'

export const CredentialDescription = Type.Object(
  {
    workspace_id: Type.String(),
    kind: Type.Enum(['key', 'oauth']),
    scopes: nullable(Type.Array(Type.String(), { description: 'null: everything.' })),
    audience: nullable(Type.String()),
  },
  { title: 'CredentialDescription' },
)
export type CredentialDescription = Static<typeof CredentialDescription>
