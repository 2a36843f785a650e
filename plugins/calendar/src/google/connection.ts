/** The connection of a workspace to Google Calendar, and a first read that tells whether its credentials work. */
import {
  type Auth,
  credential,
  DestinationError,
  defineConnectionType,
  type Static,
  secret,
  Type,
} from '@claimcheck/core/plugin'
import { CALENDAR_API, openGoogle } from './api.ts'

const Options = Type.Object(
  {
    client_id: Type.Optional(
      Type.String({ title: 'Client', minLength: 1, maxLength: 255, description: 'The id of the OAuth client.' }),
    ),
    client_secret: Type.Optional(
      secret({ title: 'Client secret', description: 'The secret of the OAuth client.', maxLength: 255 }),
    ),
    refresh_token: Type.Optional(
      secret({ title: 'Refresh token', description: 'The refresh token of the account.', maxLength: 2048 }),
    ),
    service_account: Type.Optional(
      secret({
        title: 'Service account',
        description: "The JSON file of a service account's key, in place of client and refresh token.",
        maxLength: 8192,
      }),
    ),
  },
  { additionalProperties: false },
)

export type Options = Static<typeof Options>

const SCOPE = 'https://www.googleapis.com/auth/calendar.events.readonly'

const HELP = `Make an OAuth client at console.cloud.google.com, and a refresh token with the scope calendar.events.readonly and no others; or make a
service account, and share the calendar with its address. The account needs "See all event details": one that only sees free and busy times
finds no events.`

const SOME_DETAILS =
  'The account reads the calendar without its private details: private events are found, and shown without their texts.'

export const PROVIDER = 'google_calendar'

/** @param tokenUrl the endpoint of access tokens */
export const connectionTypeAt = (tokenUrl: string) =>
  defineConnectionType<typeof Options>({
    provider: PROVIDER,
    title: 'Google Calendar',
    options: Options,
    credentials: {
      person: {
        scheme: 'oauth2',
        grant: 'refreshToken',
        tokenUrl,
        clientId: 'client_id',
        clientSecret: 'client_secret',
        authentication: 'post',
        refreshToken: 'refresh_token',
      },
      service: { scheme: 'oauth2', grant: 'jwtBearer', tokenUrl, scope: SCOPE, privateKey: 'service_account' },
    },
    help: HELP,
    baseUrl: () => CALENDAR_API,
    fits: (_, { target }) => target.startsWith('google:'),
    refusesHidden: true,
    trial: {
      title: 'Calendar',
      description: 'One that is to be read through this connection, by its id.',
      example: 'team@group.calendar.google.com',
    },
    async probe(options, context) {
      const { target } = context
      if (target !== undefined && !/^[^\s/@]+@[^\s/@]+$/.test(target)) throw new DestinationError('unsupported_target')
      const { role } = await openGoogle(authOf(options), context).calendar(target ?? 'primary')
      return {
        proves: target === undefined ? 'reached' : 'works',
        scopes: [role],
        warnings: role === 'reader' ? [SOME_DETAILS] : [],
      }
    },
  })

/** The declared credential of these options. @throws DestinationError `misconfigured` for options with none */
export function authOf({ service_account, refresh_token, client_id }: Options): Auth {
  if (service_account !== undefined) return credential('service')
  if (refresh_token === undefined || client_id === undefined) throw new DestinationError('misconfigured')
  return credential('person')
}
