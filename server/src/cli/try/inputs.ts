/** What `try` and `plugin record` are given: the plugin's place, a claim, the options of a connection. */
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { CommandError } from '@claimcheck/cli/errors'
import { formatInstant, type Instant, isJsonObject, type JsonObject } from '@claimcheck/core'
import type { Command } from 'commander'
import { loadConfig } from '../../config/config.ts'
import type { TrialInput } from './trial.ts'

export interface TryFiles {
  readonly claim: string
  readonly connection?: string
  readonly provider?: string
  readonly with?: string
  readonly open?: boolean
  readonly trusted?: boolean
}

export function withTryOptions(command: Command): Command {
  return command
    .argument('<plugin>', 'its folder, its module, or the name of an installed package')
    .requiredOption('--claim <file>', 'the claim as clients submit it; claimed_at is now where it is left out')
    .option('--connection <file>', 'the options of a connection')
    .option('--provider <provider>', 'of the connection, where the action is read through several')
    .option('--with <file>', 'the options that the configuration would give the plugin')
    .option('--open', 'without the sandbox, on a system that allows none')
    .option('--trusted', 'in the process of this command, as an operator can have it for a plugin')
}

/** @throws CommandError, ConfigError */
export function trialInput(plugin: string, files: TryFiles): TrialInput {
  const { claim, connection, provider, with: given, open, trusted } = files
  return {
    config: loadConfig(process.env, process.cwd()),
    plugin: {
      use: pluginAt(plugin),
      with: given === undefined ? {} : readObject('--with', given),
      ...(open ? { isolation: 'open' as const } : {}),
      ...(trusted ? { trusted } : {}),
    },
    claim: readClaimFile(claim, Date.now()),
    connection: connection === undefined ? undefined : readObject('--connection', connection),
    provider,
  }
}

/** An author tries one claim again and again: what only tells claims apart may be left out, and the claim is about now. */
function readClaimFile(file: string, now: Instant): JsonObject {
  return { client_claim_id: 'try', agent_id: 'try', claimed_at: formatInstant(now), ...readObject('--claim', file) }
}

/** @throws CommandError `usage`, which never repeats what is in the file: it may be a credential */
function readObject(option: string, file: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new CommandError('usage', `${option} ${file}: ${code === undefined ? 'it is not JSON' : fileProblem(code)}.`)
  }
  if (!isJsonObject(value as never)) throw new CommandError('usage', `${option} ${file}: it is not a JSON object.`)
  return value as JsonObject
}

/** The plugin as the configuration would name it: a path where there is one, else the name of a package. */
export function pluginAt(path: string): string {
  const place = resolve(path)
  return statSync(place, { throwIfNoEntry: false }) ? place : path
}

function fileProblem(code: string): string {
  return code === 'ENOENT' ? 'there is no such file' : `it cannot be read (${code})`
}
