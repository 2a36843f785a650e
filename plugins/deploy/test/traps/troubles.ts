/** Answers of what stands between, when neither a version nor its absence is told. */

import type { Answer } from '../../../../test/traps/scripted-server.ts'
import { statusAnswer } from './kubernetes-api.ts'
import { errorAnswer } from './vercel-api.ts'

export const DOWN: Answer = { status: 503, body: '<html><body><h1>503 Service Unavailable</h1></body></html>' }
export const SIGN_IN: Answer = {
  status: 200,
  body: '<!doctype html><html><head><title>Sign in to the network</title></head><body></body></html>',
}
/** A web filter that does not know the address. */
export const FILTERED: Answer = { status: 404, body: '<html><body><h1>404 Not Found</h1></body></html>' }
/** A gateway that leads elsewhere, and answers in JSON. */
export const NO_ROUTE: Answer = { status: 404, body: { message: 'no Route matched with those values' } }
export const EMPTY: Answer = { status: 200, body: {} }

export const TOO_MANY: Answer = {
  ...statusAnswer(429, 'TooManyRequests', 'Too many requests, please try again later.', { retryAfterSeconds: 1 }),
  headers: { 'retry-after': '1' },
}
export const NO_LEADER = statusAnswer(500, 'InternalError', 'etcdserver: leader changed')
export const TIMED_OUT = statusAnswer(504, 'Timeout', 'Timeout: request did not complete within requested timeout')
export const EXPIRED = statusAnswer(
  410,
  'Expired',
  'The provided continue parameter is too old to display a consistent list result.',
)
/** The 404 of a group that this API server does not serve. */
export const NO_RESOURCE = statusAnswer(404, 'NotFound', 'the server could not find the requested resource')

export const RATE_LIMITED: Answer = errorAnswer(429, 'rate_limited', 'Rate limit exceeded', {
  limit: { total: 500, remaining: 0, reset: 1773221400 },
})
export const VERCEL_DOWN = errorAnswer(500, 'internal_server_error', 'An unexpected internal error occurred')
export const SAML = errorAnswer(403, 'forbidden', 'You must re-authenticate to this scope', {
  saml: true,
  scope: 'acme',
})
