/** The options that connections to all databases share. */
import { DestinationError, type Query, type Static, secret, Type } from '@claimcheck/core/plugin'
import { DATABASE_NAME } from './profile.ts'

const HOST = '(?:\\[[0-9a-fA-F:.]+\\]|[^-\\s/?#@:\\[\\]][^\\s/?#@:\\[\\]]*)'

export const connectionOptions = (port: number) =>
  Type.Object(
    {
      name: Type.String({
        title: 'Name',
        pattern: `^${DATABASE_NAME}$`,
        maxLength: 64,
        'x-pattern-help': 'enter letters, digits, dots, hyphens and underscores',
        description: 'Your name for this database, with which claims begin their target.',
        examples: ['orders-db'],
      }),
      address: Type.String({
        title: 'Address',
        pattern: `^(?:(?:tls|tcp)://)?${HOST}:[0-9]{1,5}$`,
        maxLength: 300,
        'x-pattern-help': `enter tls://, the name of the host, a colon and the port, without a user: tls://db.example:${port}`,
        description: `The host and the port, usually ${port}. It is read over TLS; \`tcp://\` needs the operator's permission.`,
        examples: [`tls://db.example:${port}`],
      }),
      database: Type.String({
        title: 'Database',
        pattern: '^[^\\x00-\\x1f\\x7f]+$',
        maxLength: 64,
        description: 'The name of the database at the server.',
        examples: ['orders'],
      }),
      user: Type.String({
        title: 'User',
        pattern: '^[^\\x00-\\x1f\\x7f]+$',
        maxLength: 128,
        description: 'The name of an account that can only read.',
        examples: ['claimcheck'],
      }),
      password: secret({ title: 'Password', description: 'The password of that account.', maxLength: 1024 }),
      fingerprint_key: Type.Optional(
        secret({
          title: 'Key of fingerprints',
          description:
            'A text of at least 16 characters that the agents know, too. Needed where claims name values of columns.',
          maxLength: 1024,
        }),
      ),
    },
    { additionalProperties: false },
  )

export type Options = Static<ReturnType<typeof connectionOptions>>

/** The credential by which fingerprints are made. */
export const FINGERPRINTS = 'fingerprints'
export const credentials = { [FINGERPRINTS]: { scheme: 'fingerprint', key: 'fingerprint_key' } } as const

/** The base address of a typed one. */
export function addressOf({ address }: Pick<Options, 'address'>): string {
  return /^t(?:ls|cp):\/\//.test(address) ? address : `tls://${address}`
}

/** The part of a query that the connection gives. */
export function queryBy({ database, user, password }: Options): Pick<Query, 'database' | 'login'> {
  return { database, login: { user, secret: password } }
}

export function fitsClaim({ name }: Options, { target }: { readonly target: string }): boolean {
  return target.startsWith(`${name}/`)
}

export const TRIAL = {
  title: 'Table',
  description: 'One that is to be read through this connection, with its schema, as the catalogue writes them.',
}

/** The table that a person named for a probe. @throws DestinationError `unsupported_target` for a text that names none */
export function tableNamed(target: string | undefined): string | undefined {
  if (target !== undefined && !/^[^.]+\.[^.]+$/.test(target)) throw new DestinationError('unsupported_target')
  return target
}

export const NO_IDENTITY =
  'The account may not read which database this is: what is missing or differs then stays unverifiable.'
export const MAY_WRITE = 'The account can write, too: make one that has nothing but SELECT.'
