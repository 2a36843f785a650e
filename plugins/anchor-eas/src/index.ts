/** The plugin anchor-eas: anchors the log's root as attestations of the Ethereum Attestation Service. */
import { definePlugin } from '@claimcheck/core/plugin'
import { createEasAnchorer } from './anchorer.ts'
import { Options, readOptions } from './options.ts'

export default definePlugin({
  name: 'anchor-eas',
  api: 2,
  manifest: { hosts: ['options.rpc_url'] },
  options: Options,
  setup({ logger }, options) {
    const { settings, isKeyExposed } = readOptions(options, process.env)
    if (isKeyExposed)
      logger.warn({}, 'other users can read the key file of the anchoring account: allow only its owner')
    return { anchorer: createEasAnchorer(settings) }
  },
})
