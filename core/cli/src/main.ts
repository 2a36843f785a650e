/** The `claimcheck-cli` command: what those need who claim, who check receipts, and who write plugins. */
import { addClaimCommands } from './commands/claim.ts'
import { addClaimsCommands } from './commands/claims.ts'
import { addLoginCommands } from './commands/login.ts'
import { addMcpCommand } from './commands/mcp.ts'
import { addPluginCommands } from './commands/plugin.ts'
import { addServiceReceiptCommands } from './commands/receipt.ts'
import { addTryCommand, IN_PROCESS } from './commands/try.ts'
import { addVerifyCommand } from './commands/verify.ts'
import { createProgram, runProgram } from './program.ts'
import { VERSION } from './version.ts'

/** Runs the command that the arguments name, and sets `process.exitCode`. */
export async function run(args: readonly string[]): Promise<void> {
  const program = createProgram({
    name: 'claimcheck-cli',
    description: 'Claims what was done at a Claimcheck service, checks receipts, and tries plugins.',
    version: VERSION,
  })
  addClaimCommands(program)
  addClaimsCommands(program)
  addLoginCommands(program)
  addServiceReceiptCommands(program.command('receipt').description('receipts, at a service'))
  addVerifyCommand(program)
  addMcpCommand(program)
  addTryCommand(program, IN_PROCESS)
  addPluginCommands(program)
  await runProgram(program, args)
}
