/** Where passkeys can be used: they belong to a host name, and browsers offer them over https and on one's own machine alone. */
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { HttpError } from '../http/errors.ts'
import type { RelyingParty } from '../people/passkeys.ts'
import { paths } from './paths.ts'
import { originOf } from './session.ts'

/** Or why there are none, in words. */
export type PasskeyPlace =
  | { readonly party: RelyingParty }
  | { readonly problem: string /** Where it would work. */; readonly instead?: string }

export function passkeyPlace(request: FastifyRequest, publicUrl: string | undefined): PasskeyPlace {
  const origin = originOf(request, publicUrl)
  const { hostname, protocol, port } = new URL(origin)
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) {
    const problem = `Passkeys belong to a host name, and ${hostname} is an IP address.`
    const isHere = publicUrl === undefined && protocol === 'http:' && /^(127\.|\[::1\])/.test(hostname)
    return isHere ? { problem, instead: `http://localhost${port && `:${port}`}${paths.account}` } : { problem }
  }
  if (protocol !== 'https:' && !isLocal) return { problem: 'Passkeys need https.' }
  return { party: { id: hostname, origin } }
}

/** @throws HttpError 422 */
export function requireParty(request: FastifyRequest, publicUrl: string | undefined): RelyingParty {
  const place = passkeyPlace(request, publicUrl)
  if ('party' in place) return place.party
  throw new HttpError(422, place.problem)
}
