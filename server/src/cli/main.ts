/** The `claimcheck` command: one file a command, and here what all of them share. */
import { Command, CommanderError } from 'commander'
import { VERSION } from '../base/version.ts'
import { addAnchorCommands } from './commands/anchor.ts'
import { addConnectionCommands } from './commands/connection.ts'
import { addCopyCommand } from './commands/copy.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addKeyCommands } from './commands/key.ts'
import { addLogCommands } from './commands/log.ts'
import { addMigrateCommand } from './commands/migrate.ts'
import { addServeCommand } from './commands/serve.ts'
import { addSigningKeyCommands } from './commands/signing-key.ts'
import { addUserCommands } from './commands/user.ts'
import { addVerifyCommand } from './commands/verify.ts'
import { addWorkspaceCommands } from './commands/workspace.ts'
import { explain } from './errors.ts'

/** Wrong usage, as distinct from a command that ran and failed (1). `verify` uses it for "could not check". */
const EXIT_USAGE = 2

/** Runs the command that the arguments name, and leaves in `process.exitCode` how it ended. */
export async function run(args: readonly string[]): Promise<void> {
  const program = new Command('claimcheck')
    .description('Checks what software agents say they did, and issues receipts that anyone can check.')
    .version(VERSION)
    .showHelpAfterError('(claimcheck help tells the commands)')
    .exitOverride()

  addServeCommand(program)
  addMigrateCommand(program)
  addWorkspaceCommands(program)
  addUserCommands(program)
  addKeyCommands(program)
  addConnectionCommands(program)
  addSigningKeyCommands(program)
  addLogCommands(program)
  addAnchorCommands(program)
  addVerifyCommand(program)
  addDoctorCommand(program)
  addCopyCommand(program)

  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      // Commander has said it already, on the right stream; asking for help is no error.
      process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE
    } else {
      process.stderr.write(`${explain(error)}\n`)
      process.exitCode = 1
    }
  }
}
