/** Reads the inputs of `try` and `plugin record`: the plugin's place, a claim, the options of a connection. */
import { readFileSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import { CommandError } from '@claimcheck/command-line/errors'
import { formatInstant, type Instant, isJsonObject, type JsonObject } from '@claimcheck/core/rules'
import type { Command } from 'commander'

export interface TryFiles {
  readonly claim: string
  readonly connection?: string
  readonly provider?: string
  readonly with?: string
}

export function withTryOptions(command: Command): Command {
  return command
    .argument('<plugin>', "the plugin's folder or module, or the name of an installed package")
    .requiredOption('--claim <file>', 'JSON file with the claim, as clients submit it (default of claimed_at: now)')
    .option('--connection <file>', 'JSON file with the options of a connection')
    .option('--provider <provider>', 'provider of the connection, if the action has several')
    .option('--with <file>', "JSON file with the plugin's options")
}

export interface TrialInput {
  readonly claim: JsonObject
  readonly connection: JsonObject | undefined
  readonly provider: string | undefined
  /** The options of the plugin, as the file of `--with` has them. */
  readonly with: JsonObject
}

/** Reads the files that the options of `try` name. @throws CommandError `usage` for files that cannot be used */
export function trialInput({ claim, connection, provider, with: given }: TryFiles): TrialInput {
  return {
    claim: readClaimFile(claim, Date.now()),
    connection: connection === undefined ? undefined : readObject('--connection', connection),
    provider,
    with: given === undefined ? {} : readObject('--with', given),
  }
}

/** Fills in ids and time, which an author who tries one claim again and again may leave out. */
function readClaimFile(file: string, now: Instant): JsonObject {
  return { client_claim_id: 'try', agent_id: 'try', claimed_at: formatInstant(now), ...readObject('--claim', file) }
}

/** Reads a JSON object from a file. @throws CommandError `usage`, which never repeats what is in the file: it may be a credential */
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
