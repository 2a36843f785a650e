/** The `claimcheck` command: puts the commands together, runs one, and reports how it ended. */
import { Command } from 'commander'
import { VERSION } from '../base/version.ts'
import { addActionCommand } from './commands/action.ts'
import { addAnchorCommands } from './commands/anchor.ts'
import { addAuditTrailCommand } from './commands/audit-trail.ts'
import { addClaimCommands } from './commands/claim.ts'
import { addClaimsCommands } from './commands/claims.ts'
import { addConnectionCommands } from './commands/connection.ts'
import { addCopyCommand } from './commands/copy.ts'
import { addDoctorCommand } from './commands/doctor.ts'
import { addKeyCommands } from './commands/key.ts'
import { addLogCommands } from './commands/log.ts'
import { addLoginCommands } from './commands/login.ts'
import { addMachineCommands } from './commands/machine.ts'
import { addMcpCommand } from './commands/mcp.ts'
import { addMigrateCommand } from './commands/migrate.ts'
import { addPluginCommands } from './commands/plugin.ts'
import { addPluginsCommand } from './commands/plugins.ts'
import { addReceiptCommands } from './commands/receipt.ts'
import { addSecretKeyCommands } from './commands/secret-key.ts'
import { addServeCommand } from './commands/serve.ts'
import { addSigningKeyCommands } from './commands/signing-key.ts'
import { addTryCommand } from './commands/try.ts'
import { addUserCommands } from './commands/user.ts'
import { addVerifyCommand } from './commands/verify.ts'
import { addWorkspaceCommands } from './commands/workspace.ts'
import { failureOf } from './errors.ts'

/** Runs the command that the arguments name, and sets `process.exitCode`. */
export async function run(args: readonly string[]): Promise<void> {
  const program = new Command('claimcheck')
    .description('Checks what software agents say they did, and issues receipts that anyone can check.')
    .version(VERSION)
    .showHelpAfterError('(claimcheck help lists the commands)')
    .exitOverride()

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
  addTryCommand(program)
  addPluginCommands(program)
  addCopyCommand(program)

  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    const failure = failureOf(error)
    process.exitCode = failure?.exitCode ?? 0
    if (!failure) return
    const { code, message, text } = failure
    if (text !== undefined) process.stderr.write(`${text}\n`)
    if (wantsJson(args)) process.stdout.write(`${JSON.stringify({ error: { code, message } })}\n`)
  }
}

/** Looked for in the arguments: a command that was not understood has no options. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return (end < 0 ? args : args.slice(0, end)).includes('--json')
}
