/** The `claimcheck-cli` command: submits claims, and checks receipts. */

import { createProgram, runProgram } from '@claimcheck/command-line/program'
import type { Command } from 'commander'
import { addClaimCommands } from './commands/claim.ts'
import { addClaimsCommands } from './commands/claims.ts'
import { addLoginCommands } from './commands/login.ts'
import { addMcpCommand } from './commands/mcp.ts'
import { addServiceReceiptCommands } from './commands/receipt.ts'
import { addVerifyCommand } from './commands/verify.ts'
import { addWaitCommand } from './commands/wait.ts'
import { VERSION } from './version.ts'

/** Creates the command line with all commands of this package. */
export function clientProgram(): Command {
  const program = createProgram({
    name: 'claimcheck-cli',
    description: 'Submit claims to a Claimcheck service, and check receipts.',
    version: VERSION,
  })
  addClaimCommands(program)
  addClaimsCommands(program)
  addWaitCommand(program)
  addLoginCommands(program)
  addServiceReceiptCommands(program.command('receipt').description('print, check and open receipts'))
  addVerifyCommand(program)
  addMcpCommand(program)
  return program
}

/** Runs the command that the arguments name, and sets `process.exitCode`. */
export async function run(args: readonly string[]): Promise<void> {
  await runProgram(clientProgram(), args)
}
