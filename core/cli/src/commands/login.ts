/** `claimcheck login`, `logout` and `profiles`: which services this user claims at, and with which keys. */
import { readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { badArguments, CommandError } from '@claimcheck/command-line/errors'
import { type OutputOptions, print, subcommand, table } from '@claimcheck/command-line/run'
import { writeError } from '@claimcheck/command-line/terminal'
import { typed } from '@claimcheck/command-line/typed'
import { visible } from '@claimcheck/core/words/plain-text'
import type { Command } from 'commander'
import { plainAddress } from '../service/access.ts'
import { openBrowser } from '../service/browser.ts'
import { asking, clientOf } from '../service/client.ts'
import { revokeKey, type SignedIn, signIn } from '../service/oauth-login.ts'
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
import { untilSignal } from '../service/until-signal.ts'

interface LoginOptions extends OutputOptions {
  readonly profile?: string
  readonly browser: boolean
  readonly key?: string | true
}

export function addLoginCommands(program: Command): void {
  subcommand(program, 'login', 'sign in to a service in the browser, and store an API key in a profile')
    .argument('[address]', "address of the service (env: CLAIMCHECK_URL, default: the profile's)")
    .option('--profile <name>', 'name of the profile (env: CLAIMCHECK_PROFILE, default: the host of the service)')
    .option('--no-browser', 'print the address to open instead of opening a browser')
    .option(
      '--key [source]',
      'use an API key instead of the browser: prompt for it, or read it from @FILE or - (standard input)',
    )
    .addHelpText('after', `\nProfiles are in ${profilesFile(process.env)}, not encrypted; only you can read the file.`)
    .action(async (address: string | undefined, options: LoginOptions) => {
      const profiles = readProfiles(process.env)
      const { name, url } = placeOf(address, options.profile, profiles)
      // Refuses an address that others on the way could listen to, before anything is sent.
      clientOf({ url, key: undefined })
      const { profile, until } =
        options.key === undefined
          ? await signInAt(url, options.browser)
          : { profile: { url, key: await givenKey(options.key) }, until: undefined }
      const { workspace_id, replaced } = await storeProfile(name, profile)
      if (replaced !== undefined && replaced.key !== profile.key) await revokeMade(replaced)
      print(options, { profile: name, url, workspace_id, expires_at: until ?? null }, [
        `Logged in at ${url}, to the workspace ${visible(workspace_id)}. Commands use the profile ${name} from now on.`,
        ...(until === undefined ? [] : [`The key of this machine expires at ${visible(until)}: log in again by then.`]),
      ])
    })

  subcommand(program, 'logout', 'remove a profile, and revoke its key if login made it')
    .option('--profile <name>', 'name of the profile (env: CLAIMCHECK_PROFILE, default: the current one)')
    .action(async (options: OutputOptions & { readonly profile?: string }) => {
      const profiles = readProfiles(process.env)
      const name = askedName(options.profile, process.env) ?? profiles.current
      if (name === undefined) throw new CommandError('not_configured', 'You are not logged in.')
      const { url, key, keyId } = profileNamed(profiles, name)
      const revoked = keyId !== undefined && (await revokeKey(url, key))
      writeProfiles(process.env, withoutProfile(profiles, name))
      print(options, { profile: name, url, revoked }, [
        `The profile ${name} is gone from this machine.`,
        revoked
          ? 'Its key is revoked.'
          : `Its key is still valid: revoke it under Developers at ${url}/console, if nothing else uses it.`,
      ])
    })

  const group = program.command('profiles').description('list the services that you are logged in to, and choose one')
  subcommand(group, 'list', 'list the profiles').action((options: OutputOptions) => {
    const { current, profiles } = readProfiles(process.env)
    const listed = Object.entries(profiles).map(([name, { url }]) => ({ name, url, current: name === current }))
    const rows = listed.map((one) => [one.current ? '*' : '', one.name, one.url])
    print(
      options,
      listed,
      rows.length > 0 ? table(['', 'PROFILE', 'SERVICE'], rows) : [`No profiles: ${typed('login')}.`],
    )
  })
  subcommand(group, 'use', 'set the default profile')
    .argument('<name>', 'name of the profile')
    .action((name: string, options: OutputOptions) => {
      const profiles = readProfiles(process.env)
      const { url } = profileNamed(profiles, name)
      writeProfiles(process.env, { ...profiles, current: name })
      print(options, { profile: name, url }, [`Commands use the profile ${name} from now on: ${url}.`])
    })
}

async function signInAt(url: string, opens: boolean): Promise<{ readonly profile: Profile; readonly until: string }> {
  const name = `command line on ${hostname()}`.replace(/[^\x20-\x7e]/g, '?').slice(0, 100)
  let signedIn: SignedIn | undefined
  await untilSignal(async (signal) => {
    signedIn = await signIn({ url, name, signal, show: (address) => show(address, opens) })
  })
  const { key, keyId, expiresAt: until } = signedIn!
  return { profile: { url, key, keyId }, until }
}

async function show(address: string, opens: boolean): Promise<void> {
  const opened = opens && (await openBrowser(address))
  const what = opened
    ? 'Sign in in the browser. If no window opened, open'
    : 'Sign in in a browser on this machine. Open'
  writeError(`${what} this address:\n\n  ${address}\n\n`)
}

/** Stores the key. One that login made and cannot store is revoked, because nothing else would. */
async function storeProfile(name: string, profile: Profile) {
  try {
    const { workspace_id } = await asking(clientOf(profile).whoami())
    const before = readProfiles(process.env)
    writeProfiles(process.env, withProfile(before, name, profile))
    return { workspace_id, replaced: before.profiles[name] }
  } catch (error) {
    await revokeMade(profile)
    throw error
  }
}

/** Revokes a key that login had made, and leaves any other key alone. */
async function revokeMade({ url, key, keyId }: Profile): Promise<void> {
  if (keyId === undefined || (await revokeKey(url, key))) return
  writeError(`The key ${visible(keyId)} is not used, and could not be revoked: do that in the console.\n`)
}

/** Finds the service to log in at, and the profile's name. @throws CommandError where a profile of this name is of another service */
function placeOf(address: string | undefined, option: string | undefined, profiles: Profiles) {
  const asked = askedName(option, process.env)
  const known: Profile | undefined = asked === undefined ? undefined : profiles.profiles[asked]
  const given = address ?? (process.env.CLAIMCHECK_URL || undefined) ?? known?.url
  if (given === undefined) throw badArguments(`Name the service: ${typed('login https://...')}`)
  const url = plainAddress(given)
  const name = asked ?? new URL(url).host.replace(/[[\]]/g, '')
  const before = Object.hasOwn(profiles.profiles, name) ? profiles.profiles[name] : undefined
  if (before !== undefined && before.url !== url) {
    const detail = `The profile ${name} is of ${before.url}: name another one with --profile, or log out of it first.`
    throw badArguments(detail)
  }
  return { name, url }
}

/** Reads the key that the person gives. @throws CommandError `bad_arguments`, which does not repeat the key */
async function givenKey(source: string | true): Promise<string> {
  const key = (await keyFrom(source)).trim()
  if (/^[!-~]{1,200}$/.test(key)) return key
  throw badArguments('That is no key: it is empty, or has characters that no key has.')
}

async function keyFrom(source: string | true): Promise<string> {
  if (source === true || source === '-') return readSecret('Key: ', process.stdin, process.stderr)
  if (!source.startsWith('@')) {
    const detail =
      'Do not write the key itself: it would stay in the shell’s history. Write --key alone, --key @FILE or --key -.'
    throw badArguments(detail)
  }
  try {
    return readFileSync(source.slice(1), 'utf8')
  } catch (error) {
    throw badArguments(`The key cannot be read: ${(error as Error).message}.`)
  }
}
