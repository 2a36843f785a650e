/** The plugin objects: checks what is at the keys of buckets at S3 and compatible services. */
import { definePlugin, Type } from '@claimcheck/core/plugin'
import { connectionType } from './connection.ts'
import { objectPut } from './object-put.ts'

export default definePlugin({
  name: 'objects',
  api: 3,
  manifest: { hosts: ['connection.base_url'] },
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ verifiers: [objectPut], connections: [connectionType] }),
})
