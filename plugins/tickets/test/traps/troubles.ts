/** Answers that tell neither a transition nor its absence: of proxies, filters, and trackers in trouble. */
import type { Answer } from '../../../../test/traps/scripted-server.ts'

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
export const NULL: Answer = { status: 200, body: null }
