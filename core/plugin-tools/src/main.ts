/** The `claimcheck-plugin` command: writes the package of a verifier, tries it, and tests it. */
import { createProgram, runProgram } from '@claimcheck/command-line/program'
import { addPluginCommands } from './commands/plugin.ts'
import { addTryCommand, IN_PROCESS } from './commands/try.ts'
import { VERSION } from './version.ts'

/** Runs the command that the arguments name, and sets `process.exitCode`. */
export async function run(args: readonly string[]): Promise<void> {
  const program = createProgram({
    name: 'claimcheck-plugin',
    description: 'Write, try and test verifiers for Claimcheck.',
    version: VERSION,
  })
  addPluginCommands(program)
  addTryCommand(program, IN_PROCESS)
  await runProgram(program, args)
}
