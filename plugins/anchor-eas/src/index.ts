/** The plugin anchor-eas: anchors the log's root as attestations of the Ethereum Attestation Service. */
import { definePlugin } from '@claimcheck/core/plugin'
import { Options } from './options.ts'

export default definePlugin({
  name: 'anchor-eas',
  api: 3,
  manifest: { hosts: ['options.rpc_url'] },
  options: Options,
  async setup({ logger }, options) {
    const [{ createEasAnchorer }, { readOptions }] = await load()
    const { settings, isKeyExposed } = readOptions(options, process.env)
    if (isKeyExposed)
      logger.warn({}, 'other users can read the key file of the anchoring account: allow only its owner')
    return { anchorer: createEasAnchorer(settings) }
  },
})

/** Imports the anchorer when it is needed: checkers of anchors install this package without ethers, which signs transactions. */
async function load() {
  try {
    return await Promise.all([import('./anchorer.ts'), import('./settings.ts')])
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new Error('the package ethers is not installed: npm install ethers@6.17.0 in the folder of the server', {
      cause,
    })
  }
}
