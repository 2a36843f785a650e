/** `new`, `test`, `record`: writes a new plugin, tests one with the conformance kit, and records a destination for it. */

import { CommandError } from '@claimcheck/command-line/errors'
import { type OutputOptions, print, subcommand } from '@claimcheck/command-line/run'
import { writeError } from '@claimcheck/command-line/terminal'
import type { Command } from 'commander'
import { type TryFiles, withTryOptions } from '../try/inputs.ts'

interface NewOptions extends OutputOptions {
  readonly name?: string
}

interface RecordOptions extends OutputOptions, TryFiles {
  readonly out: string
  readonly append?: boolean
}

interface TestOptions extends OutputOptions {
  readonly timeout: number
  readonly trusted?: boolean
}

/** Adds the commands for authors of plugins. @param plugin the program of an author, or the command `plugin` of another program */
export function addPluginCommands(plugin: Command): void {
  subcommand(plugin, 'new', 'write the package of a new verifier that builds and passes the conformance kit')
    .argument('<action>', 'name of the action in three parts, such as acme.ticket.close')
    .argument('[folder]', 'folder to write to (default: claimcheck-plugin-<first part of the action>)')
    .option('--name <package>', 'name of the package (default: the name of the folder)')
    .action(async (action: string, folder: string | undefined, options: NewOptions) => {
      const { nextCommands, ScaffoldError, scaffold } = await import('@claimcheck/create-plugin')
      const made = await scaffold({ action, folder, name: options.name }).catch((error: unknown) => {
        throw error instanceof ScaffoldError ? new CommandError('usage', error.message) : error
      })
      const next = nextCommands(made)
      print(options, { ...made, next }, [
        `${made.folder} verifies ${made.action}. Next:`,
        '',
        ...next.map((command) => `  ${command}`),
      ])
    })

  subcommand(plugin, 'test', 'run the conformance kit on a package, in the sandbox')
    .argument('[folder]', 'folder of the package; its package.json names the conformance definition', '.')
    .option('--timeout <seconds>', 'limit for the whole run', seconds, 600)
    .option('--trusted', 'run the package with your rights, without the sandbox, for what starts programs')
    .addHelpText('after', '\nExit code: 0 the package passes, 1 it does not, 2 the kit could not run.')
    .action(async (folder: string, { timeout, trusted = false, ...options }: TestOptions) => {
      const { runKit } = await import('../kit/kit.ts')
      const { kitLines } = await import('../kit/kit-report.ts')
      if (trusted) writeError(`${WITH_YOUR_RIGHTS}\n`)
      const report = await runKit(folder, { timeoutMs: timeout * 1000, isTrusted: trusted })
      print(options, report, kitLines(report))
      process.exitCode = report.ok ? 0 : 1
    })

  const record = subcommand(
    plugin,
    'record',
    'check one claim at its real destination, and record the answers without credentials for the kit. The plugin runs in this process, without a sandbox, and sees its environment',
  )
  withTryOptions(record)
    .requiredOption('--out <file>', 'file to write the recording to')
    .option('--append', 'add to the recording in that file')
    .action(async (path: string, options: RecordOptions) => {
      const { existsSync } = await import('node:fs')
      const { readRecording, writeRecording } = await import('@claimcheck/core/testkit')
      const { kitTrial, wasRead } = await import('../try/trial.ts')
      const { trialJson, trialLines } = await import('../try/report.ts')
      const { out, append = false } = options
      if (existsSync(out) && !append)
        throw new CommandError('usage', `${out} is there: add --append, or name another file.`)
      const trial = await kitTrial(path, options, existsSync(out) ? await readRecording(out) : undefined)
      const { recording } = trial
      if (!recording)
        throw new CommandError('could_not_check', 'The check got no answer, so that nothing was recorded.')
      await writeRecording(out, recording)
      const { origin, exchanges } = recording
      print(options, { out, origin, answers: exchanges.length, trial: trialJson(trial) }, [
        `Recorded: ${exchanges.length} answers of ${origin} are in ${out}. Read it before you publish it.`,
        '',
        ...trialLines(trial),
      ])
      if (!wasRead(trial)) process.exitCode = 1
    })
}

const WITH_YOUR_RIGHTS =
  'The code of the package runs with your rights, without a sandbox: test a package of others in a container or a virtual machine.'

function seconds(text: string): number {
  const value = Number(text)
  if (!(value > 0 && value <= 86_400)) throw new CommandError('usage', '--timeout takes a number of seconds.')
  return value
}
