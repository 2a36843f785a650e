/** What the console calls roles and actions. */

import type { Registry } from '../../plugins/registry.ts'
import type { Role } from '../people/members.ts'

export const ROLE_WORDS: Readonly<Record<Role, string>> = { owner: 'an owner', member: 'a member' }

/** What people call an action, by the newest version of its profile; undefined where no loaded plugin checks it. */
export function actionTitle({ verifierFor }: Pick<Registry, 'verifierFor'>, action: string): string | undefined {
  return verifierFor(action)?.verifier.profile.words.title
}
