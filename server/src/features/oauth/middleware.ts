/** Middleware of the library: corrects requests that it reads in another way than this service, and removes cookies for rows that are not stored. */
import type { KoaContextWithOIDC } from 'oidc-provider'
import { SIGN_IN } from './adapter.ts'
import { isUnclear } from './redirect-uris.ts'

export const COOKIE_NAMES = {
  session: 'claimcheck_oauth',
  interaction: 'claimcheck_consent',
  resume: 'claimcheck_resume',
} as const

/** Removes cookies of the library for things that are not stored: its session, and a request before the person has signed in. */
export async function onlyUsedCookies(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  await next()
  const isUnsaved = ctx.oidc?.entities.Interaction?.prompt.name === SIGN_IN
  const unused = isUnsaved
    ? [COOKIE_NAMES.session, COOKIE_NAMES.interaction, COOKIE_NAMES.resume]
    : [COOKIE_NAMES.session]
  const cookies = [ctx.response.get('set-cookie')].flat().filter(Boolean)
  const others = cookies.filter((cookie) =>
    unused.every((name) => !cookie.startsWith(`${name}=`) && !cookie.startsWith(`${name}.sig=`)),
  )
  if (others.length === cookies.length) return
  ctx.response.remove('set-cookie')
  if (others.length > 0) ctx.response.set('set-cookie', others)
}

/**
 * Leaves out parameters of OpenID Connect alone, as RFC 6749 3.1 wants of unknown parameters: the library refuses these without the scope `openid`.
 * Clients send a `nonce` to every service.
 */
export async function withoutOpenid(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  const others = Object.entries(ctx.query).filter(([name]) => !OPENID_PARAMETERS.has(name))
  if (others.length < Object.keys(ctx.query).length) ctx.query = Object.fromEntries(others)
  await next()
}

const OPENID_PARAMETERS: ReadonlySet<string> = new Set(
  'acr_values claims claims_locales display id_token_hint login_hint max_age nonce ui_locales'.split(' '),
)

/**
 * Makes the library refuse response modes other than `query`, which need a page with a script. They cannot be switched off, but the library refuses a
 * mode that it does not know.
 */
export async function onlyQueryResponses(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  const { response_mode: mode } = ctx.query
  if (mode !== undefined && mode !== 'query') ctx.query = { ...ctx.query, response_mode: 'other' }
  await next()
}

/**
 * Refuses redirect URIs that readers read differently: the library compares a loopback address without its port, and reads it with a parser that
 * passes over line breaks.
 */
export async function onlyClearRedirects(ctx: KoaContextWithOIDC, next: () => Promise<void>): Promise<void> {
  const uris = [ctx.query.redirect_uri].flat()
  // A URI that is registered for no client: the library says so on its own page, and sends the browser nowhere.
  if (uris.some((uri) => uri !== undefined && isUnclear(uri))) ctx.query = { ...ctx.query, redirect_uri: 'unclear:' }
  await next()
}
