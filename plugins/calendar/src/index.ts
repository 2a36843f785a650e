/** The plugin calendar: checks events that were put into calendars. */
import { definePlugin, defineVerifier, Type } from '@claimcheck/core/plugin'
import { METHODS } from './caldav/api.ts'
import { connectionType as caldav } from './caldav/connection.ts'
import { findAtCaldav } from './caldav/event.ts'
import { type FindEvents, report } from './event.ts'
import { connectionTypeAt, PROVIDER as GOOGLE } from './google/connection.ts'
import { findAtGoogle } from './google/event.ts'
import { profile } from './profile.ts'
import { normalize, requireIds } from './target.ts'

const FINDERS: Readonly<Record<string, FindEvents>> = {
  [caldav.provider]: findAtCaldav,
  [GOOGLE]: findAtGoogle,
}

/** Bytes of the largest calendar that is read as a whole, at servers that know no search. */
const MOST_BYTES = 16 * 1024 * 1024

const create = defineVerifier({
  profile,
  providers: Object.keys(FINDERS),
  limits: { requests: 12, bodyBytes: MOST_BYTES, timeMs: 30_000 },
  normalize,
  async check(claim, context) {
    requireIds(claim)
    const found = await FINDERS[context.connection!.provider]!(claim, context)
    return report(found, claim, context)
  },
})

const GOOGLE_TOKEN_URL = 'https://oauth2.googleapis.com/token'

export default definePlugin({
  name: 'calendar',
  api: 3,
  manifest: {
    hosts: ['connection.base_url', 'www.googleapis.com'],
    tokenHosts: ['oauth2.googleapis.com', 'options.google_token_url'],
    methods: { dav: METHODS },
  },
  options: Type.Object(
    {
      google_token_url: Type.Optional(
        Type.String({
          pattern: '^https?://[^-\\s/?#@][^\\s?#@]*$',
          maxLength: 2048,
          description: "The endpoint of Google's access tokens, if something else answers for it.",
          examples: [GOOGLE_TOKEN_URL],
        }),
      ),
    },
    { additionalProperties: false },
  ),
  setup: (_, { google_token_url = GOOGLE_TOKEN_URL }) => ({
    verifiers: [create],
    connections: [caldav, connectionTypeAt(google_token_url)],
  }),
})
