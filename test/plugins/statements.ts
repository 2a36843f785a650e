/** A plugin that anchors by statements in a file, as `test/anchors/statements.ts` describes them. */
import { definePlugin, Type } from '@claimcheck/core/plugin'
import { createStatementAnchorer } from '../anchors/statements.ts'

export default definePlugin({
  name: 'statements',
  api: 3,
  manifest: { hosts: [] },
  options: Type.Object({ file: Type.String(), seed: Type.String() }, { additionalProperties: false }),
  setup: (_host, { file, seed }) => ({ anchorer: createStatementAnchorer(file, Buffer.from(seed, 'hex')) }),
})
