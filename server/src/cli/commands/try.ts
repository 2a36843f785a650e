/** `claimcheck try`: one check of a claim by a plugin, as the service makes it. */
import type { TryHost } from '@claimcheck/plugin-tools/commands/try'
import { pluginAt, type TryFiles, trialInput } from '@claimcheck/plugin-tools/try/inputs'

export const AS_THE_SERVICE: TryHost<TryFiles & { readonly open?: boolean; readonly trusted?: boolean }> = {
  description:
    'check one claim with a plugin like the service, and print requests, observation and verdict. Exit code 1: the destination could not be read',
  withOptions: (command) =>
    command
      .option('--open', 'run the plugin without the sandbox, where the system allows none')
      .option('--trusted', 'run the plugin in the process of this command, like a trusted plugin'),
  async makeTrial(plugin, options) {
    const [{ makeTrial }, { loadConfig }] = await Promise.all([import('../try/trial.ts'), import('../../features.ts')])
    const { open, trusted } = options
    const { with: given, ...input } = trialInput(options)
    const config = loadConfig(process.env, process.cwd())
    const isolation = open ? 'open' : undefined
    return makeTrial({ ...input, config, plugin: { use: pluginAt(plugin), with: given, isolation, trusted } })
  },
}
