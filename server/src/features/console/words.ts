/** The words of the console for roles, actions and lengths of time. */

import type { Registry } from '../../plugins/registry.ts'
import type { Role } from '../people/members.ts'

export const ROLE_WORDS: Readonly<Record<Role, string>> = { owner: 'an owner', member: 'a member' }

/** Finds the title of an action by the newest version of its profile; undefined where no loaded plugin checks it. */
export function actionTitle({ verifierFor }: Pick<Registry, 'verifierFor'>, action: string): string | undefined {
  return verifierFor(action)?.verifier.profile.words.title
}

const HOUR_MS = 60 * 60_000
/** Each unit with its size, and the shortest time that is told in it: two days are told as 48 hours. */
const LENGTHS = [
  ['day', 24 * HOUR_MS, 72 * HOUR_MS],
  ['hour', HOUR_MS, HOUR_MS],
  ['minute', 60_000, 60_000],
  ['second', 1000, 0],
] as const

/** Writes a time in the largest unit of which it is a whole number: `24 hours`. */
export function lengthWords(ms: number): string {
  const [unit, size] = LENGTHS.find(([, size, least]) => ms >= least && ms % size === 0) ?? LENGTHS[3]
  const count = ms / size
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
