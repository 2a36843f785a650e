/** The wire format of connections: through what a workspace can verify, and which actions. It has no credentials, and the names that owners gave. */
import { type Static, Type } from '../typebox.ts'
import { Timestamp } from './primitives.ts'

export const ConnectionList = Type.Object(
  {
    connections: Type.Array(
      Type.Object(
        {
          id: Type.String(),
          name: Type.String({ description: 'What its owners call it.', examples: ['GitHub, acme'] }),
          provider: Type.String({ examples: ['github'] }),
          scopes: Type.Array(Type.String(), { description: 'The permissions that its credentials have.' }),
          connected_at: Timestamp,
          identity: Type.Optional(
            Type.String({
              description: 'What tells its destination from another at the same address, as its last trial read it.',
            }),
          ),
          actions: Type.Array(Type.String(), {
            description:
              'What can be claimed through it: actions, and their other names. Empty: no loaded plugin reads through this connection.',
          }),
        },
        { title: 'Connection' },
      ),
      { description: 'Active ones, oldest first.' },
    ),
    public_actions: Type.Array(Type.String(), {
      description: 'What can be claimed without a connection: actions, and their other names.',
    }),
  },
  { title: 'ConnectionList' },
)
export type ConnectionList = Static<typeof ConnectionList>
