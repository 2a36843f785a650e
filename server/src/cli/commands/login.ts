/** `claimcheck login`, `logout` and `profiles`: which services this user claims at, and with which keys. */
import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { visible } from '../../base/plain-text.ts'
import { CommandError } from '../errors.ts'
import { type OutputOptions, print, subcommand, table } from '../run.ts'
import { plainAddress } from '../service/access.ts'
import { asking, clientOf } from '../service/client.ts'
import {
  askedName,
  type Profile,
  type Profiles,
  profileNamed,
  profilesFile,
  readProfiles,
  withoutProfile,
  withProfile,
  writeProfiles,
} from '../service/profiles.ts'
import { readSecret } from '../service/secret-input.ts'

interface LoginOptions extends OutputOptions {
  readonly profile?: string
  readonly key?: string | true
}

export function addLoginCommands(program: Command): void {
  subcommand(program, 'login', 'keep a key for a service, in a profile')
    .argument('[address]', 'of the service; also CLAIMCHECK_URL, or that of the profile')
    .option('--profile <name>', 'also CLAIMCHECK_PROFILE; by default the host of the service')
    .option('--key [source]', 'asks for the key, or reads it: @FILE, or - for standard input')
    .addHelpText(
      'after',
      `\nThe key is kept in ${profilesFile(process.env)}, readable by you alone, and not encrypted.`,
    )
    .action(async (address: string | undefined, options: LoginOptions) => {
      const profiles = readProfiles(process.env)
      const { name, url } = placeOf(address, options.profile, profiles)
      const key = await givenKey(options.key ?? true)
      const { workspace_id } = await asking(clientOf({ url, key }).whoami())
      writeProfiles(process.env, withProfile(profiles, name, { url, key }))
      print(options, { profile: name, url, workspace_id }, [
        `Logged in at ${url}, to the workspace ${visible(workspace_id)}. Commands use the profile ${name} from now on.`,
      ])
    })

  subcommand(program, 'logout', 'forget the key of a profile')
    .option('--profile <name>', 'also CLAIMCHECK_PROFILE; by default the current one')
    .action(async (options: OutputOptions & { readonly profile?: string }) => {
      const profiles = readProfiles(process.env)
      const name = askedName(options.profile, process.env) ?? profiles.current
      if (name === undefined) throw new CommandError('not_configured', 'Nobody is logged in.')
      const { url } = profileNamed(profiles, name)
      writeProfiles(process.env, withoutProfile(profiles, name))
      print(options, { profile: name, url, revoked: false }, [
        `The profile ${name} is gone from this machine.`,
        `Its key is still valid: revoke it under Developers at ${url}/console, if nothing else uses it.`,
      ])
    })

  const group = program.command('profiles').description('the services that this user has logged in to')
  subcommand(group, 'list', 'list the profiles').action((options: OutputOptions) => {
    const { current, profiles } = readProfiles(process.env)
    const listed = Object.entries(profiles).map(([name, { url }]) => ({ name, url, current: name === current }))
    const rows = listed.map((one) => [one.current ? '*' : '', one.name, one.url])
    print(
      options,
      listed,
      rows.length > 0 ? table(['', 'PROFILE', 'SERVICE'], rows) : ['No profiles: claimcheck login.'],
    )
  })
  subcommand(group, 'use', 'use this profile where nothing names another')
    .argument('<name>')
    .action((name: string, options: OutputOptions) => {
      const profiles = readProfiles(process.env)
      const { url } = profileNamed(profiles, name)
      writeProfiles(process.env, { ...profiles, current: name })
      print(options, { profile: name, url }, [`Commands use the profile ${name} from now on: ${url}.`])
    })
}

/** @throws CommandError where a profile of this name is of another service */
function placeOf(address: string | undefined, option: string | undefined, profiles: Profiles) {
  const asked = askedName(option, process.env)
  const known: Profile | undefined = asked === undefined ? undefined : profiles.profiles[asked]
  const given = address ?? (process.env.CLAIMCHECK_URL || undefined) ?? known?.url
  if (given === undefined) throw new CommandError('bad_arguments', 'Name the service: claimcheck login https://...')
  const url = plainAddress(given)
  const name = asked ?? new URL(url).host.replace(/[[\]]/g, '')
  const before = Object.hasOwn(profiles.profiles, name) ? profiles.profiles[name] : undefined
  if (before !== undefined && before.url !== url) {
    const detail = `The profile ${name} is of ${before.url}: name another one with --profile, or log out of it first.`
    throw new CommandError('bad_arguments', detail)
  }
  return { name, url }
}

/** @throws CommandError `bad_arguments`, which does not repeat the key */
async function givenKey(source: string | true): Promise<string> {
  const key = (await keyFrom(source)).trim()
  if (/^[!-~]{1,200}$/.test(key)) return key
  throw new CommandError('bad_arguments', 'That is no key: it is empty, or has characters that no key has.')
}

async function keyFrom(source: string | true): Promise<string> {
  if (source === true || source === '-') return readSecret('Key: ', process.stdin, process.stderr)
  if (!source.startsWith('@')) {
    const detail =
      'Do not write the key itself: it would stay in the shell’s history. Write --key alone, --key @FILE or --key -.'
    throw new CommandError('bad_arguments', detail)
  }
  try {
    return readFileSync(source.slice(1), 'utf8')
  } catch (error) {
    throw new CommandError('bad_arguments', `The key cannot be read: ${(error as Error).message}.`)
  }
}
