/** A plugin that anchors on a chain in a file: for tests of hosts that are processes of their own. */
import { definePlugin, Type } from '@claimcheck/core/plugin'
import { createScriptedAnchorer, ScriptedChain } from '../anchors/scripted-chain.ts'

export default definePlugin({
  name: 'scripted-anchoring',
  api: 3,
  manifest: { hosts: [] },
  options: Type.Object(
    { file: Type.String(), interval_ms: Type.Integer(), account: Type.Optional(Type.String()) },
    { additionalProperties: false },
  ),
  setup: (_host, { file, interval_ms, account }) => ({
    anchorer: createScriptedAnchorer(new ScriptedChain(file), {
      intervalMs: interval_ms,
      isMining: true,
      ...(account === undefined ? {} : { account }),
    }),
  }),
})
