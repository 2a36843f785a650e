/** The command line as an OAuth client of every service, by its metadata (RFC 7591): it is built in, and needs no registration. */
export const COMMAND_LINE_CLIENT = {
  client_id: 'claimcheck-cli',
  client_name: 'Claimcheck command line',
  /** The port may differ (RFC 8252 7.3). Nothing but a program on the person's own machine gets a code. */
  redirect_uris: ['http://127.0.0.1/callback'],
  grant_types: ['authorization_code'],
}

export const CALLBACK_PATH = '/callback'

/** Permits the command line to exchange the token for one key. */
export const KEY_SCOPE = 'keys:create'
