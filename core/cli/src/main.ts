/** The `claimcheck-cli` command: submits claims, checks receipts, and helps to write plugins. */
import type { Command } from 'commander'
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

/** All commands. */
export function clientProgram(): Command {
  const program = createProgram({
    name: 'claimcheck-cli',
    description: 'Submit claims to a Claimcheck service, check receipts, and write plugins.',
    version: VERSION,
  })
  addClaimCommands(program)
  addClaimsCommands(program)
  addLoginCommands(program)
  addServiceReceiptCommands(program.command('receipt').description('print, check and open receipts'))
  addVerifyCommand(program)
  addMcpCommand(program)
  addTryCommand(program, IN_PROCESS)
  addPluginCommands(program)
  return program
}

/** Runs the command that the arguments name, and sets `process.exitCode`. */
export async function run(args: readonly string[]): Promise<void> {
  await runProgram(clientProgram(), args)
}
