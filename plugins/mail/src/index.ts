/** The plugin mail: checks that copies of sent messages are in a mailbox. */
import { definePlugin, defineVerifier, Type } from '@claimcheck/core/plugin'
import { normalizeAddress } from './header.ts'
import { checkSent } from './imap/check.ts'
import { connectionType } from './imap/connection.ts'
import { COMMANDS } from './imap/session.ts'
import { sendProfile } from './profile.ts'

const send = defineVerifier({
  profile: sendProfile,
  providers: [connectionType.provider],
  limits: { requests: 4, bodyBytes: 1024 * 1024, timeMs: 20_000 },
  normalize: ({ target, params: { message_id, to_fingerprint, ...rest } }) => ({
    target: normalizeAddress(target),
    params: {
      ...rest,
      message_id: message_id.replace(/^<(.*)>$/, '$1'),
      ...(to_fingerprint && { to_fingerprint: [...new Set(to_fingerprint)].toSorted() }),
    },
  }),
  check: checkSent,
})

export default definePlugin({
  name: 'mail',
  api: 3,
  manifest: {
    hosts: ['connection.address'],
    tokenHosts: ['oauth2.googleapis.com', 'login.microsoftonline.com', 'connection.token_url'],
    sockets: [
      { port: 993, tls: true, protocol: 'imap', commands: COMMANDS },
      { port: 143, tls: 'starttls', protocol: 'imap', commands: COMMANDS },
      { port: 'connection', tls: true, protocol: 'imap', commands: COMMANDS },
    ],
  },
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ verifiers: [send], connections: [connectionType] }),
})
