/** Writes the bodies of PROPFIND and REPORT. The manifest declares the XML, and a check gives values for its places. */
import type { DavCall } from '../contract/fetch.ts'
import type { DavMethod } from '../contract/plugin.ts'
import { BreachError } from './failures.ts'

const PLACE = /\{([a-z][a-z0-9_]*)\}/g
const MAX_VALUE_LENGTH = 4096
/** Characters that XML cannot express. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const UNWRITABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/

/**
 * Writes the request of a declared WebDAV method.
 * @param path the path that the call is sent to, with its query
 * @param basePath the path of the check's base address
 * @throws BreachError for a call that the manifest does not declare
 */
export function davRequest(
  { dav: name, parameters = {} }: DavCall,
  declared: readonly DavMethod[],
  { path, basePath }: { readonly path: string; readonly basePath: string },
): { readonly method: string; readonly body: string; readonly headers: Readonly<Record<string, string>> } {
  const found = declared.find((one) => one.name === name)
  if (!found) throw new BreachError('the manifest does not declare this method of WebDAV')
  if (!isBelow(path, basePath.replace(/\/+$/, '') + found.path))
    throw new BreachError('the manifest declares no such method at this path')
  const names = placesIn(found.body)
  if (Object.keys(parameters).some((one) => !names.includes(one)))
    throw new BreachError('a parameter has no place in the declared body')
  const body = found.body.replace(PLACE, (_, place: string) => {
    const value = Object.hasOwn(parameters, place) ? parameters[place] : undefined
    if (typeof value !== 'string') throw new BreachError(`the parameter ${place} is missing`)
    return escapeXml(value)
  })
  return {
    method: found.method,
    body,
    headers: { depth: found.depth, 'content-type': 'application/xml; charset=utf-8' },
  }
}

/** Tells whether a rule allows a path. One that ends in `*` allows the paths below it. */
function isBelow(path: string, rule: string): boolean {
  return rule.endsWith('*') ? path.startsWith(rule.slice(0, -1)) && !path.includes('?') : path === rule
}

function placesIn(body: string): string[] {
  return [...body.matchAll(PLACE)].map(([, name]) => name!)
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
}

function escapeXml(value: string): string {
  if (value.length > MAX_VALUE_LENGTH || UNWRITABLE.test(value) || !value.isWellFormed())
    throw new BreachError('a parameter is too long, or holds what XML cannot')
  return value.replace(/[&<>"']/g, (character) => ESCAPES[character]!)
}

/** The problem of a declared body; undefined if its places are texts or values of attributes. */
export function davProblem({ body }: Pick<DavMethod, 'body'>): string | undefined {
  if (/<!|<\?(?!xml )/.test(body)) return 'a body has no comments, no entities and no other instructions'
  // Filled texts and quoted values cannot end the place that they stand in, because their characters are escaped.
  const markup = body.replace(/"[^"<]*"|'[^'<]*'/g, '""').replace(/>[^<]*</g, '><')
  return placesIn(markup).length > 0
    ? 'a place is neither the text of an element nor the value of an attribute'
    : undefined
}
