/** The forms in which a connection type may declare its credentials, by scheme. */
import { Value } from '../../typebox.ts'
import * as ALL from './all.ts'
import type { Scheme } from './scheme.ts'

type Schemes = typeof ALL

/**
 * Uses of a connection's secrets by the host, on the requests of its checks. A connection type declares each use as data, by the names of
 * its options; a request names the declaration and nothing else, so that a plugin has no text signed that it could choose. A secret that
 * a declaration names is spent by that declaration alone.
 */
export type Credential = { [Name in keyof Schemes]: Parameters<Schemes[Name]['spend']>[0] }[keyof Schemes]

const SCHEMES: { readonly [Name in Credential['scheme']]: Scheme<Extract<Credential, { readonly scheme: Name }>> } = ALL

/** Finds the scheme of a declaration. @returns what is wrong with a declaration that has the form of no scheme */
export function schemeOf(credential: Credential): Scheme<Credential> | string {
  const { scheme: name } = (typeof credential === 'object' && credential !== null ? credential : {}) as {
    readonly scheme?: unknown
  }
  if (typeof name !== 'string' || !Object.hasOwn(SCHEMES, name))
    return `has no scheme of the contract: write ${Object.keys(SCHEMES).join(', ')}`
  const scheme = SCHEMES[name as Credential['scheme']] as unknown as Scheme<Credential>
  const form = typeof scheme.form === 'function' ? scheme.form(credential) : scheme.form
  if (Value.Check(form, credential)) return scheme
  const [first] = Value.Errors(form, credential)
  return `${name}${first?.instancePath ?? ''} ${first?.message ?? 'has another form'}`
}
