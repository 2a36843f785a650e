/** `try`: one check of a claim by a plugin that is being written, and what comes of it. */
import { isAbsolute } from 'node:path'
import { CommandError } from '@claimcheck/command-line/errors'
import { type OutputOptions, print, subcommand } from '@claimcheck/command-line/run'
import type { Command } from 'commander'
import { pluginAt, type TryFiles, withTryOptions } from '../try/inputs.ts'
import type { Trial } from '../try/trial.ts'

interface TryOptions extends OutputOptions, TryFiles {
  readonly watch?: boolean
}

/** The place at which a check is made. */
export interface TryHost<O extends TryFiles = TryFiles> {
  readonly description: string
  /** Adds the options of this host to the command `try`. */
  readonly withOptions: (command: Command) => Command
  readonly makeTrial: (plugin: string, options: O) => Promise<Trial>
}

/** Runs the plugin in the process of the command. */
export const IN_PROCESS: TryHost = {
  description:
    'check one claim with a plugin, and print requests, observation and verdict. The plugin runs in this process, without a sandbox, and sees its environment. Exit code 1: the destination could not be read',
  withOptions: (command) => command,
  makeTrial: async (plugin, options) => (await import('../try/trial.ts')).kitTrial(plugin, options),
}

export function addTryCommand<O extends TryFiles>(program: Command, host: TryHost<O>): void {
  const command = withTryOptions(subcommand(program, 'try', host.description))
  host
    .withOptions(command)
    .option('--watch', 'check again in a new process whenever a file of the package or of the claim changes')
    .action(async (plugin: string, options: TryOptions & O) => {
      if (options.watch) return watch(plugin, options)
      const { trialJson, trialLines } = await import('../try/report.ts')
      const { wasRead } = await import('../try/trial.ts')
      const trial = await host.makeTrial(plugin, options)
      print(options, trialJson(trial), trialLines(trial))
      if (!wasRead(trial)) process.exitCode = 1
    })
}

async function watch(plugin: string, options: TryOptions): Promise<never> {
  const { runOnChange, watchedPath } = await import('../try/watch.ts')
  const use = pluginAt(plugin)
  if (!isAbsolute(use)) throw new CommandError('usage', '--watch is for a plugin that is named by its path.')
  const files = [options.claim, options.connection, options.with].filter((file) => file !== undefined)
  const args = process.argv.slice(2).filter((word) => word !== '--watch')
  return runOnChange(args, [watchedPath(use), ...files])
}
