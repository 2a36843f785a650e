/** The plugin http: checks what web addresses answer. */
import { definePlugin, earlierVersion, Type } from '@claimcheck/core/plugin'
import { site } from './site.ts'
import { urlStatus } from './url-status.ts'

export default definePlugin({
  name: 'http',
  api: 3,
  manifest: { hosts: ['target', 'connection.base_url'] },
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({
    verifiers: [urlStatus, earlierVersion(urlStatus, { version: '1', rulesVersion: 1, compared: undefined })],
    connections: [site],
  }),
})
