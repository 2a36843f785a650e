/** The anchor-eas plugin: anchors the log's root as attestations of the Ethereum Attestation Service. */
import { definePlugin } from '@claimcheck/core'
import { createEasAnchorer } from './anchorer.ts'
import { Options, readOptions } from './options.ts'

export default definePlugin({
  name: 'anchor-eas',
  api: 1,
  options: Options,
  setup({ logger }, options) {
    const { settings, warnings } = readOptions(options, process.env)
    for (const warning of warnings) logger.warn(warning)
    return { anchorer: createEasAnchorer(settings) }
  },
})
