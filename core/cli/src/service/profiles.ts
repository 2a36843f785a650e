/** The profiles of this user: which services they use, and the keys with which they claim there. One file, for its owner alone. */
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { badArguments, CommandError } from '@claimcheck/command-line/errors'
import { typed } from '@claimcheck/command-line/typed'

export interface Profile {
  /** The address of the service, without a slash at its end. */
  readonly url: string
  readonly key: string
  /** The id of a key that `login` had the service make, by which `logout` revokes it. */
  readonly keyId?: string
}

export interface Profiles {
  /** The profile that is used where nothing names one. */
  readonly current?: string
  readonly profiles: Readonly<Record<string, Profile>>
}

export type Env = Readonly<Record<string, string | undefined>>

const NAME = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$/
const NONE: Profiles = { profiles: {} }

/** Finds the file of profiles by the XDG base directory specification, which ignores relative paths. */
export function profilesFile({ XDG_CONFIG_HOME: given, HOME: home }: Env): string {
  const folder = given && isAbsolute(given) ? given : join(home || homedir(), '.config')
  return join(folder, 'claimcheck', 'profiles.json')
}

/** Reads the profiles. @throws CommandError `not_configured` for a file that others may read, or that is not one of profiles */
export function readProfiles(env: Env): Profiles {
  const file = profilesFile(env)
  let text: string
  try {
    text = readPrivateFile(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return NONE
    throw new CommandError('not_configured', `${file} holds keys, and was not read: ${(error as Error).message}.`)
  }
  const profiles = parsed(text)
  if (!profiles) throw new CommandError('not_configured', `${file} is not readable as profiles: mend it, or remove it.`)
  return profiles
}

export function writeProfiles(env: Env, profiles: Profiles): void {
  const file = profilesFile(env)
  makePrivateFolder(file)
  // Another user of the folder could put other profiles into it.
  chmodSync(dirname(file), 0o700)
  writePrivateFile(file, profiles, { flush: true })
}

/**
 * Writes a whole file of JSON or nothing, readable for its owner alone.
 * @param options `flush`: it has to outlast a power failure at once
 */
export function writePrivateFile(file: string, value: object, { flush = false } = {}): void {
  makePrivateFolder(file)
  const draft = `${file}.${randomBytes(6).toString('hex')}.tmp`
  try {
    writeFileSync(draft, `${JSON.stringify(value, undefined, 2)}\n`, { flag: 'wx', mode: 0o600, flush })
    renameSync(draft, file)
  } finally {
    rmSync(draft, { force: true })
  }
}

function makePrivateFolder(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
}

export function withProfile({ profiles }: Profiles, name: string, profile: Profile): Profiles {
  return { current: name, profiles: { ...profiles, [name]: profile } }
}

export function withoutProfile({ current, profiles }: Profiles, name: string): Profiles {
  const { [name]: _, ...others } = profiles
  return { current: current === name ? undefined : current, profiles: others }
}

/**
 * The profile's name that a command or the environment asks for; undefined where neither names one.
 * @throws CommandError `bad_arguments` for what is no name
 */
export function askedName(option: string | undefined, env: Env): string | undefined {
  const name = option ?? (env.CLAIMCHECK_PROFILE || undefined)
  if (name === undefined || NAME.test(name)) return name
  throw badArguments('The name of a profile has 1 to 100 letters, digits, dots, colons, dashes or _.')
}

/** Finds a profile by its name. @throws CommandError `not_configured` if there is none */
export function profileNamed({ profiles }: Profiles, name: string): Profile {
  const profile = Object.hasOwn(profiles, name) ? profiles[name] : undefined
  if (profile) return profile
  const others = Object.keys(profiles)
  const known = others.length > 0 ? `There are ${others.join(', ')}.` : 'There is none yet.'
  throw new CommandError('not_configured', `There is no profile ${name}. ${known} Make one with ${typed('login')}.`)
}

function readPrivateFile(path: string): string {
  if (statSync(path).mode & 0o077) throw new Error('other users have access to the file: run chmod 600 on it')
  return readFileSync(path, 'utf8')
}

function parsed(text: string): Profiles | undefined {
  try {
    const value = JSON.parse(text) as Profiles | null
    const profiles = Object.values(value?.profiles ?? { none: undefined })
    return profiles.every(isProfile) ? (value as Profiles) : undefined
  } catch {
    return undefined
  }
}

function isProfile(value: unknown): value is Profile {
  const { url, key, keyId = '' } = (value ?? {}) as Readonly<Record<string, unknown>>
  return [url, key, keyId].every((member) => typeof member === 'string')
}
