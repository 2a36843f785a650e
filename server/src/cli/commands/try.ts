/** `claimcheck try`: one check of a claim by a plugin, as the service makes it. */
import type { TryingPlace } from '@claimcheck/cli/commands/try'
import { pluginAt, type TryFiles, trialInput } from '@claimcheck/cli/try/inputs'

interface ServiceOptions extends TryFiles {
  readonly open?: boolean
  readonly trusted?: boolean
}

export const AS_THE_SERVICE: TryingPlace<ServiceOptions> = {
  description:
    'check one claim with a plugin, as the service would: prints the requests, the observation and the verdict. Exit 0 if the check read its destination',
  withOptions: (command) =>
    command
      .option('--open', 'without the sandbox, on a system that allows none')
      .option('--trusted', 'in the process of this command, as an operator can have it for a plugin'),
  async makeTrial(plugin, options) {
    const [{ makeTrial }, { loadConfig }] = await Promise.all([import('../try/trial.ts'), import('../../features.ts')])
    const { open, trusted } = options
    const { with: given, ...input } = trialInput(options)
    return makeTrial({
      ...input,
      config: loadConfig(process.env, process.cwd()),
      plugin: {
        use: pluginAt(plugin),
        with: given,
        ...(open ? { isolation: 'open' as const } : {}),
        ...(trusted ? { trusted } : {}),
      },
    })
  },
}
