/** The `claimcheck` command: puts the commands together, runs one, and reports how it ended. */

import { addClaimCommands } from '@claimcheck/cli/commands/claim'
import { addClaimsCommands } from '@claimcheck/cli/commands/claims'
import { addLoginCommands } from '@claimcheck/cli/commands/login'
import { addMcpCommand } from '@claimcheck/cli/commands/mcp'
import { addPluginCommands } from '@claimcheck/cli/commands/plugin'
import { addTryCommand } from '@claimcheck/cli/commands/try'
import { addVerifyCommand } from '@claimcheck/cli/commands/verify'
import { createProgram, runProgram } from '@claimcheck/cli/program'
import { VERSION } from '../base/version.ts'
import { addActionCommand } from './commands/action.ts'
import { addAnchorCommands } from './commands/anchor.ts'
import { addAuditTrailCommand } from './commands/audit-trail.ts'
import { addConnectionCommands } from './commands/connection.ts'
import { addCopyCommand } from './commands/copy.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addKeyCommands } from './commands/key.ts'
import { addLogCommands } from './commands/log.ts'
import { addMachineCommands } from './commands/machine.ts'
import { addMigrateCommand } from './commands/migrate.ts'
import { addPluginsCommand } from './commands/plugins.ts'
import { addReceiptCommands } from './commands/receipt.ts'
import { addSecretKeyCommands } from './commands/secret-key.ts'
import { addServeCommand } from './commands/serve.ts'
import { addSigningKeyCommands } from './commands/signing-key.ts'
import { AS_THE_SERVICE } from './commands/try.ts'
import { addUserCommands } from './commands/user.ts'
import { addWorkspaceCommands } from './commands/workspace.ts'

const FOR_PEOPLE: ReadonlySet<string> = new Set([
  'ConfigError',
  'PluginError',
  'StorageError',
  'ServiceError',
  'SigningError',
  'SecretError',
])

/** Runs the command that the arguments name, and sets `process.exitCode`. */
export async function run(args: readonly string[]): Promise<void> {
  const program = createProgram({
    name: 'claimcheck',
    description: 'Checks what software agents say they did, and issues receipts that anyone can check.',
    version: VERSION,
  })

  addClaimCommands(program)
  addClaimsCommands(program)
  addLoginCommands(program)
  addServeCommand(program)
  addMigrateCommand(program)
  addWorkspaceCommands(program)
  addUserCommands(program)
  addKeyCommands(program)
  addMachineCommands(program)
  addConnectionCommands(program)
  addPluginsCommand(program)
  addActionCommand(program)
  addSigningKeyCommands(program)
  addSecretKeyCommands(program)
  addLogCommands(program)
  addReceiptCommands(program)
  addAnchorCommands(program)
  addAuditTrailCommand(program)
  addVerifyCommand(program)
  addMcpCommand(program)
  addDoctorCommand(program)
  addTryCommand(program, AS_THE_SERVICE)
  addPluginCommands(program)
  addCopyCommand(program)

  await runProgram(program, args, FOR_PEOPLE)
}
