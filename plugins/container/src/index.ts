/** The plugin container: checks what the tags of images at container registries are. */
import { definePlugin, Type } from '@claimcheck/core/plugin'
import { connectionType } from './connection.ts'
import { imagePush } from './image-push.ts'

export default definePlugin({
  name: 'container',
  api: 3,
  manifest: {
    hosts: ['target', 'registry-1.docker.io', 'connection.base_url'],
    tokenHosts: ['auth.docker.io', 'gitlab.com', 'connection.token_url'],
  },
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ verifiers: [imagePush], connections: [connectionType] }),
})
