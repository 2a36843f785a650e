/** The `claimcheck` command: composes the commands, runs one, and reports how it ended. */

import { addClaimCommands } from '@claimcheck/cli/commands/claim'
import { addClaimsCommands } from '@claimcheck/cli/commands/claims'
import { addLoginCommands } from '@claimcheck/cli/commands/login'
import { addMcpCommand } from '@claimcheck/cli/commands/mcp'
import { addVerifyCommand } from '@claimcheck/cli/commands/verify'
import { addWaitCommand } from '@claimcheck/cli/commands/wait'
import { createProgram, runProgram } from '@claimcheck/command-line/program'
import { addTryCommand } from '@claimcheck/plugin-tools/commands/try'
import type { Command } from 'commander'
import { VERSION } from '../base/version.ts'
import { FEATURES, loadConfig, SCHEMA } from '../features.ts'
import type { Feature, Program, WithServices } from '../host/feature.ts'
import { addServeCommand } from './commands/serve.ts'
import { AS_THE_SERVICE } from './commands/try.ts'

const FOR_PEOPLE: ReadonlySet<string> = new Set([
  'ConfigError',
  'PluginError',
  'StorageError',
  'ServiceError',
  'SigningError',
  'SecretError',
])

export function claimcheckProgram(): Command {
  const program = createProgram({
    name: 'claimcheck',
    description: 'Checks what software agents say they did, and issues receipts that anyone can check.',
    version: VERSION,
  })

  addClaimCommands(program)
  addClaimsCommands(program)
  addWaitCommand(program)
  addLoginCommands(program)
  addServeCommand(program)
  for (const { commands } of FEATURES as readonly Feature[]) commands?.(program, withServices, PROGRAM)
  addVerifyCommand(program)
  addMcpCommand(program)
  addTryCommand(program, AS_THE_SERVICE)
  return program
}

/** Runs the command that the arguments name, and sets `process.exitCode`. */
export async function run(args: readonly string[]): Promise<void> {
  await runProgram(claimcheckProgram(), args, FOR_PEOPLE)
}

/** Opens the installation of this environment for a command, and closes it. */
// biome-ignore lint/suspicious/noExplicitAny: each command names the services that it uses
const withServices: WithServices<any> = async (work, { plugins = false, asIs = false, env = {} } = {}) => {
  // A late import, so that help and `verify` start fast.
  const { openClaimcheck } = await import('../claimcheck.ts')
  const config = loadConfig({ ...process.env, ...env }, process.cwd())
  const claimcheck = await openClaimcheck(config, { plugins, asIs, patient: true })
  try {
    return await work(claimcheck)
  } finally {
    await claimcheck.close()
  }
}

const PROGRAM: Program = {
  loadConfig: (env) => loadConfig(env, process.cwd()),
  schema: SCHEMA,
}
