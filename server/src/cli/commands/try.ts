/** `claimcheck try`: one check of a claim by a plugin that is being written, and what comes of it. */
import { isAbsolute } from 'node:path'
import { CommandError } from '@claimcheck/cli/errors'
import { type OutputOptions, print, subcommand } from '@claimcheck/cli/run'
import type { Command } from 'commander'
import { pluginAt, type TryFiles, trialInput, withTryOptions } from '../try/inputs.ts'

interface TryOptions extends OutputOptions, TryFiles {
  readonly watch?: boolean
}

export function addTryCommand(program: Command): void {
  const command = subcommand(
    program,
    'try',
    'check one claim with a plugin, as the service would: prints the requests, the observation and the verdict. Exit 0 if the check read its destination',
  )
  withTryOptions(command)
    .option('--watch', 'again, in a new process, whenever a file of the package or of the claim changes')
    .action(async (plugin: string, options: TryOptions) => {
      if (options.watch) return watch(plugin, options)
      const { makeTrial, wasRead } = await import('../try/trial.ts')
      const { trialJson, trialLines } = await import('../try/report.ts')
      const trial = await makeTrial(trialInput(plugin, options))
      print(options, trialJson(trial), trialLines(trial))
      if (!wasRead(trial)) process.exitCode = 1
    })
}

async function watch(plugin: string, options: TryOptions): Promise<never> {
  const { runOnChange, watchedPath } = await import('../try/watch.ts')
  const use = pluginAt(plugin)
  if (!isAbsolute(use)) throw new CommandError('usage', '--watch is for a plugin that is named by its path.')
  const named = (['claim', 'connection', 'provider', 'with'] as const).flatMap((name) => {
    const value = options[name]
    return value === undefined ? [] : [`--${name}`, value]
  })
  const flags = (['json', 'open', 'trusted'] as const).filter((name) => options[name]).map((name) => `--${name}`)
  const files = [options.claim, options.connection, options.with].filter((file) => file !== undefined)
  return runOnChange(['try', plugin, ...named, ...flags], [watchedPath(use), ...files])
}
