/** Defines the outcome of one check of a claim, and makes such a check with the kit's host in this process. */

import { existsSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CommandError } from '@claimcheck/command-line/errors'
import { writeError } from '@claimcheck/command-line/terminal'
import { typed } from '@claimcheck/command-line/typed'
import { isRead, parseInstant } from '@claimcheck/core/rules'
import { type Recording, type TrialClaim, TrialError, type Trial as Tried, tryClaim } from '@claimcheck/core/testkit'
import { pluginAt, type TryFiles, trialInput } from './inputs.ts'

export interface Trial extends Omit<Tried, 'recording'> {
  readonly plugin: {
    readonly package: string
    readonly version?: string | undefined
    readonly isolation: string
    /** Words on how the check ran, to follow a comma. */
    readonly how: string
  }
}

interface KitTrial extends Trial {
  readonly recording: Recording | undefined
}

export function wasRead({ record }: Pick<Trial, 'record'>): boolean {
  return isRead(record)
}

/**
 * Checks the claim in this process, with the kit's guard around the requests.
 * @param recording an earlier recording, whose exchanges stay before the new ones
 * @throws CommandError for inputs that do not allow a check
 */
export async function kitTrial(path: string, files: TryFiles, recording?: Recording): Promise<KitTrial> {
  const { claim, connection, provider, with: options } = trialInput(files)
  const { module, package: name, version } = pluginModule(path)
  const forget = failOnExit()
  try {
    const { default: plugin } = await imported(module)
    const trial = await tryClaim({
      plugin,
      options,
      claim: claimOf(claim),
      ...(connection === undefined ? {} : { connection }),
      ...(provider === undefined ? {} : { provider }),
      ...(recording === undefined ? {} : { recording }),
    })
    const how = "in this process, without a sandbox, with the tests' guard around its requests"
    return { ...trial, plugin: { package: name, version, isolation: 'kit', how } }
  } catch (error) {
    throw error instanceof TrialError ? commandError(error) : error
  } finally {
    forget()
  }
}

const MEMBERS = ['client_claim_id', 'agent_id', 'action', 'target', 'params', 'claimed_at', 'deadline_at']

/** Reads a claim as an author writes it. @throws CommandError `usage` for members of the wrong form */
function claimOf(claim: Readonly<Record<string, unknown>>): TrialClaim {
  const { action, target, params, claimed_at, deadline_at } = claim
  const unknown = Object.keys(claim).filter((name) => !MEMBERS.includes(name))
  const [claimedAt, deadlineAt] = [claimed_at, deadline_at].map((at) => parseInstant(String(at)))
  const problems = [
    ...unknown.map((name) => `${name}: a claim has no such member`),
    ...(typeof action === 'string' ? [] : ['action: write the name of an action']),
    ...(claimedAt === undefined ? ['claimed_at: write a time, such as 2026-01-31T12:00:00Z'] : []),
    ...(deadline_at !== undefined && deadlineAt === undefined ? ['deadline_at: write a time'] : []),
  ]
  if (problems.length > 0) {
    throw new CommandError('usage', ['the claim is not valid', ...problems.map((one) => `  ${one}`)].join('\n'))
  }
  return {
    action: action as string,
    target: target as string,
    params: params as TrialClaim['params'],
    claimedAt: claimedAt!,
    ...(deadlineAt === undefined ? {} : { deadlineAt }),
  }
}

function commandError({ code, message, issues }: TrialError): CommandError {
  const lines = [
    `${message.charAt(0).toUpperCase()}${message.slice(1)}.`,
    ...issues.map(({ loc, msg }) => `  ${loc.join('.')}: ${msg}`),
  ]
  if (code === 'no_connection') lines.push('Give the options of a connection with --connection FILE.')
  if (code === 'not_here') lines.push('Install @claimcheck/server beside it, and run its claimcheck try.')
  return new CommandError(
    code === 'no_connection' || code === 'not_here' ? 'could_not_check' : 'usage',
    lines.join('\n'),
  )
}

interface PluginModule {
  readonly module: string
  readonly package: string
  readonly version?: string
}

/** Finds the module that the package.json of a folder or an installed package exports, or the named module. @throws CommandError if there is none */
function pluginModule(path: string): PluginModule {
  const place = pluginAt(path)
  if (!existsSync(place)) return moduleOf(join(process.cwd(), 'none.js'), path)
  if (!statSync(place).isDirectory()) return { module: place, ...manifestAbove(dirname(place)) }
  return moduleOf(join(place, 'package.json'), manifestAbove(place).package)
}

function moduleOf(from: string, name: string): PluginModule {
  try {
    const module = createRequire(from).resolve(name)
    return { module, ...manifestAbove(dirname(module)) }
  } catch (error) {
    const reason = (error as Error).message.split('\n')[0]
    throw new CommandError('usage', `There is no plugin ${name}: ${reason}. Build it first, or install it.`)
  }
}

function manifestAbove(folder: string): { readonly package: string; readonly version?: string } {
  for (let at = resolve(folder); at !== dirname(at); at = dirname(at)) {
    const file = join(at, 'package.json')
    if (!existsSync(file)) continue
    const { name, version } = JSON.parse(readFileSync(file, 'utf8'))
    return { package: name ?? at, ...(version === undefined ? {} : { version }) }
  }
  return { package: folder }
}

async function imported(module: string) {
  try {
    return await import(pathToFileURL(module).href)
  } catch (error) {
    const { name, message } = error as Error
    throw new CommandError('usage', `The plugin failed as it was loaded: ${name}: ${message}`)
  }
}

/** Fails the command if the plugin ends the process, until the returned function is called: such a plugin has not been tried. */
function failOnExit(): () => void {
  const fail = () => {
    writeError(`The plugin ended the process: nothing was checked. ${typed('try')} makes one check.\n`)
    process.exitCode = 1
  }
  process.once('exit', fail)
  return () => process.off('exit', fail)
}
