/** Texts for people: sentences, roles, and what plugins write. */
import type { Role } from '../people/members.ts'
import type { Registry } from '../plugins/registry.ts'

/** A message of a service as a sentence: with a capital letter and a full stop. */
export function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1) + (/[.!?]$/.test(text) ? '' : '.')
}

/** A text of a plugin: parts between backticks are code. */
export function Prose({ text }: { readonly text: string }) {
  return <>{text.split('`').map((part, index) => (index % 2 === 0 ? part : <code>{part}</code>))}</>
}

export const ROLE_WORDS: Readonly<Record<Role, string>> = { owner: 'an owner', member: 'a member' }

/** What people call an action, by the newest version of its profile; undefined where no loaded plugin checks it. */
export function actionTitle({ verifierFor }: Pick<Registry, 'verifierFor'>, action: string): string | undefined {
  return verifierFor(action)?.verifier.profile.words.title
}
