/** Tells whether passkeys work at an address: they need a host name, over https or `localhost`. */
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { HttpError } from '../../http/errors.ts'
import { originOf } from '../../web/origin.ts'
import type { RelyingParty } from '../people/passkeys.ts'

/** An address at which passkeys work, or the reason why they do not, in words. */
export type PasskeyPlace = { readonly party: RelyingParty } | { readonly problem: string }

export function passkeyPlace(request: FastifyRequest, publicUrl: string | undefined): PasskeyPlace {
  const origin = originOf(request, publicUrl)
  const { hostname, protocol } = new URL(origin)
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0) {
    return { problem: `Passkeys need a host name, and ${hostname} is an IP address.` }
  }
  if (protocol !== 'https:' && !isLocal) return { problem: 'Passkeys need https.' }
  return { party: { id: hostname, origin } }
}

/**
 * Returns the relying party of a request.
 * @throws HttpError 422 where passkeys do not work at the request's address
 */
export function requireParty(request: FastifyRequest, publicUrl: string | undefined): RelyingParty {
  const place = passkeyPlace(request, publicUrl)
  if ('party' in place) return place.party
  throw new HttpError(422, place.problem)
}
