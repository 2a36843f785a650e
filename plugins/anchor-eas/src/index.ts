/** The anchor-eas plugin: anchors the log's root as attestations of the Ethereum Attestation Service. */
import { definePlugin } from '@claimcheck/core/plugin'
import { createEasAnchorer } from './anchorer.ts'
import { Options, readOptions } from './options.ts'

export default definePlugin({
  name: 'anchor-eas',
  api: 1,
  options: Options,
  setup({ logger }, options) {
    const { settings, isKeyExposed } = readOptions(options, process.env)
    if (isKeyExposed)
      logger.warn({}, 'the file of the key of the anchoring account can be read by others than its owner')
    return { anchorer: createEasAnchorer(settings) }
  },
})
