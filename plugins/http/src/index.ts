/** The plugin http: checks what web addresses answer. */
import { definePlugin, Type } from '@claimcheck/core/plugin'
import { site } from './site.ts'
import { urlStatus } from './url-status.ts'
import { urlStatusV1 } from './url-status-v1.ts'

export default definePlugin({
  name: 'http',
  api: 2,
  manifest: { hosts: ['target', 'connection'] },
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ verifiers: [urlStatus, urlStatusV1], connections: [site] }),
})
