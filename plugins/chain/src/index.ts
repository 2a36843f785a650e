/** The plugin chain: checks transactions at the nodes of EVM chains. */
import { definePlugin, Type } from '@claimcheck/core/plugin'
import { confirm } from './confirm.ts'
import { connectionType } from './connection.ts'
import { METHODS } from './node.ts'

export default definePlugin({
  name: 'chain',
  api: 3,
  manifest: { hosts: ['connection.base_url'], methods: { jsonRpc: METHODS } },
  options: Type.Object({}, { additionalProperties: false }),
  setup: () => ({ verifiers: [confirm], connections: [connectionType] }),
})
