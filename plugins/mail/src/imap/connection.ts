/** The connection to a mailbox by IMAP. */
import { type ConnectionType, defineConnectionType, type Static, secret, Type } from '@claimcheck/core/plugin'
import { normalizeAddress } from '../header.ts'
import { findSent, openMailbox, readCapabilities, readRights } from './mailbox.ts'
import { openSession } from './session.ts'

const Options = Type.Object(
  {
    mailbox: Type.String({
      title: 'Mailbox',
      pattern: '^[^\\s@]+@[^\\s@]+$',
      maxLength: 254,
      'x-pattern-help': 'enter the address of the mailbox, such as agent@acme.example',
      description: 'The address from which the messages are sent, as claims name it.',
      examples: ['agent@acme.example'],
    }),
    address: Type.String({
      title: 'Address',
      pattern: '^tls://(?:\\[[0-9A-Fa-f.:]+\\]|[^-\\s/?#@:\\[\\]][^\\s/?#@:\\[\\]]*):[0-9]{1,5}$',
      maxLength: 300,
      'x-pattern-help': 'enter tls://, the server and its port: tls://imap.gmail.com:993',
      description: 'The IMAP server. At port 143 the connection begins in plain and goes over to TLS (STARTTLS).',
      examples: ['tls://imap.gmail.com:993'],
    }),
    user: Type.String({
      title: 'User',
      minLength: 1,
      maxLength: 320,
      description: 'The name of the account at the server, often the address.',
      examples: ['agent@acme.example'],
    }),
    password: Type.Optional(
      secret({ title: 'Password', description: 'The password, or an app password. Leave it out for OAuth 2.' }),
    ),
    token_url: Type.Optional(
      Type.String({
        title: 'Token endpoint',
        pattern: '^https?://[^-\\s/?#@][^\\s?#@]*$',
        maxLength: 2048,
        'x-pattern-help': 'enter an address such as https://oauth2.googleapis.com/token',
        description: 'Where access tokens come from, for OAuth 2.',
        examples: ['https://oauth2.googleapis.com/token'],
      }),
    ),
    client_id: Type.Optional(
      Type.String({ title: 'Client', minLength: 1, maxLength: 255, description: 'The id of the client, for OAuth 2.' }),
    ),
    client_secret: Type.Optional(
      secret({ title: 'Client secret', description: 'The secret of the client, for OAuth 2.' }),
    ),
    refresh_token: Type.Optional(
      secret({
        title: 'Refresh token',
        description: 'The refresh token of the account. Without it the client itself reads the mailbox.',
        maxLength: 8192,
      }),
    ),
    scope: Type.Optional(
      Type.String({
        title: 'Scope',
        minLength: 1,
        maxLength: 1024,
        description: 'The scope of access tokens, where the client itself reads the mailbox.',
        examples: ['https://outlook.office365.com/.default'],
      }),
    ),
    server_files_sent: Type.Optional(
      Type.Boolean({
        title: 'The server files each sent message',
        description:
          'Whether the server itself, and no program that sends, puts a copy of every message that this account sends into the mailbox of sent messages. Only then a missing copy counts against an agent.',
        default: false,
      }),
    ),
    fingerprint_key: Type.Optional(
      secret({
        title: 'Key of fingerprints',
        description:
          'The key that agents and this connection share, for claims that name recipients. At least 16 characters.',
      }),
    ),
  },
  { additionalProperties: false },
)

export type Options = Static<typeof Options>

const HELP = `Any IMAP server that marks its mailbox of sent messages (SPECIAL-USE). Best is an account of its own that may only read that mailbox
(ACL \`lr\`): a password of the mailbox itself, an app password, and the scopes of Gmail and Outlook for IMAP can also delete messages, which
this plugin never does.`

const client = {
  scheme: 'oauth2',
  tokenUrl: '{option.token_url}',
  clientId: 'client_id',
  clientSecret: 'client_secret',
} as const

const MAY_WRITE = 'These credentials can change the mailbox: this plugin only reads, but make sure who else has them.'
const NO_SAVE_DATE =
  'The server does not tell when a copy came into the mailbox (SAVEDATE): a claim that arrives late stays unverifiable.'

export const connectionType: ConnectionType = defineConnectionType<typeof Options>({
  provider: 'imap',
  title: 'Mailbox (IMAP)',
  options: Options,
  credentials: {
    person: { ...client, grant: 'refreshToken', refreshToken: 'refresh_token' },
    machine: { ...client, grant: 'clientCredentials', scope: '{option.scope}' },
    fingerprints: { scheme: 'fingerprint', key: 'fingerprint_key' },
  },
  help: HELP,
  baseUrl: ({ address }) => address,
  fits: ({ mailbox }, { target }) => normalizeAddress(mailbox) === target,
  async probe(options, context) {
    const session = await openSession(options, context)
    try {
      const capabilities = await readCapabilities(session)
      const [name] = await findSent(session, capabilities)
      await openMailbox(session, name!)
      const rights = capabilities.has('ACL') ? await readRights(session, name!) : undefined
      const onlyReads = rights !== undefined && !/[^lrs]/.test(rights)
      return {
        proves: 'works',
        scopes: rights === undefined ? [] : [`ACL ${rights}`],
        warnings: [...(onlyReads ? [] : [MAY_WRITE]), ...(capabilities.has('SAVEDATE') ? [] : [NO_SAVE_DATE])],
      }
    } finally {
      await session.close()
    }
  },
})
