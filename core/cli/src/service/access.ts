/** Finds the service of a command and its key: in the options, then in the environment, then in a profile. */

import { badArguments, CommandError } from '@claimcheck/command-line/errors'
import { typed } from '@claimcheck/command-line/typed'
import type { Command } from 'commander'
import { askedName, type Env, type Profile, profileNamed, readProfiles } from './profiles.ts'

export interface AccessOptions {
  readonly url?: string
  readonly profile?: string
}

export interface Access {
  readonly url: string
  readonly key: string | undefined
}

export function withAccessOptions(command: Command): Command {
  return command
    .option('--profile <name>', 'profile with the service and its key (env: CLAIMCHECK_PROFILE)')
    .option('--url <address>', 'address of the service (env: CLAIMCHECK_URL)')
    .addHelpText(
      'after',
      `\nThe service and the key come from CLAIMCHECK_URL and CLAIMCHECK_API_KEY, or from a profile (${typed('login')} makes one).`,
    )
}

/** Finds the service and its key. @throws CommandError `not_configured` where nothing says which service */
export function accessOf(options: AccessOptions, env: Env): Access {
  const url = options.url ?? (env.CLAIMCHECK_URL || undefined)
  const key = env.CLAIMCHECK_API_KEY || undefined
  if (url !== undefined && key !== undefined) return { url: plainAddress(url), key }
  const profile = profileOf(options, env)
  if (url === undefined) {
    if (profile) return { url: profile.url, key: key ?? profile.key }
    const detail = `No service is named: run ${typed('login ADDRESS')}, or set CLAIMCHECK_URL and CLAIMCHECK_API_KEY.`
    throw new CommandError('not_configured', detail)
  }
  // The key of one service is not sent to another.
  return { url: plainAddress(url), key: profile?.url === plainAddress(url) ? profile.key : undefined }
}

/** Finds the service and its key. @throws CommandError `not_configured` where there is no key for the service */
export function keyedAccess(options: AccessOptions, env: Env): Access & { readonly key: string } {
  const { url, key } = accessOf(options, env)
  if (key !== undefined) return { url, key }
  throw new CommandError('not_configured', `There is no key for ${url}: set CLAIMCHECK_API_KEY, or log in there.`)
}

/** Drops a slash at the end of a service's address, as profiles do. @throws CommandError `bad_arguments` for any other text */
export function plainAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw badArguments('The address of a service is like https://claimcheck.example.com.')
  }
  return url.href.replace(/\/+$/, '')
}

function profileOf(options: AccessOptions, env: Env): Profile | undefined {
  const profiles = readProfiles(env)
  const name = askedName(options.profile, env) ?? profiles.current
  return name === undefined ? undefined : profileNamed(profiles, name)
}
