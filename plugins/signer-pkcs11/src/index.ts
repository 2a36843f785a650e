/** The plugin signer-pkcs11: signs the log with keys in a PKCS#11 token, which makes them and never gives them away. */
import { definePlugin } from '@claimcheck/core/plugin'
import { TokenClient } from './client.ts'
import { Options, readOptions } from './options.ts'

export default definePlugin({
  name: 'signer-pkcs11',
  api: 3,
  manifest: { hosts: [], programs: ['node'] },
  options: Options,
  setup({ logger }, options) {
    const client = new TokenClient(readOptions(options, process.env), { logger })
    return { signingBackend: client, close: async () => client.close() }
  },
})
