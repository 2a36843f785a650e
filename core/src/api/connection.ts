/** Connections on the wire: what a workspace can verify, and through what. No account names, never a credential. */
import { type Static, Type } from 'typebox'
import { Timestamp } from './primitives.ts'

export const ConnectionList = Type.Object(
  {
    connections: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          provider: Type.String({ examples: ['github'] }),
          scopes: Type.Array(Type.String(), { description: 'The permissions that its credentials have.' }),
          connected_at: Timestamp,
          actions: Type.Array(Type.String(), { description: 'Empty: connected, but no verifier is live yet.' }),
        },
        { title: 'Connection' },
      ),
      { description: 'Active ones, oldest first.' },
    ),
    public_actions: Type.Array(Type.String(), { description: 'Actions that need no connection.' }),
  },
  { title: 'ConnectionList' },
)
export type ConnectionList = Static<typeof ConnectionList>
