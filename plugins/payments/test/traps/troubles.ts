/** What Stripe, or what stands before it, answers when neither the outcome nor its absence is told. */
import { errorBody, type StripeAnswer } from './stripe-api.ts'

export const LIMITED: StripeAnswer = {
  status: 429,
  headers: { 'stripe-rate-limited-reason': 'global-rate' },
  body: errorBody(
    'Request rate limit exceeded. Learn more about rate limits here https://stripe.com/docs/rate-limits.',
    {
      code: 'rate_limit',
    },
  ),
}
/** The books of an object are held by another request. */
export const LOCKED: StripeAnswer = {
  status: 429,
  body: errorBody('This object cannot be accessed right now because another API request is accessing it.', {
    code: 'lock_timeout',
  }),
}
export const BROKEN: StripeAnswer = {
  status: 500,
  body: errorBody('Sorry! There was an error while talking to one of our backends.', { type: 'api_error' }),
}
export const DOWN: StripeAnswer = { status: 503, body: '<html><body><h1>503 Service Unavailable</h1></body></html>' }
export const SIGN_IN: StripeAnswer = {
  status: 200,
  body: '<!doctype html><html><head><title>Sign in to the network</title></head><body></body></html>',
}
/** A web filter that does not know the address. */
export const FILTERED: StripeAnswer = { status: 404, body: '<html><body><h1>404 Not Found</h1></body></html>' }
/** A gateway that leads elsewhere, and answers in JSON. */
export const NO_ROUTE: StripeAnswer = { status: 404, body: { message: 'no Route matched with those values' } }
/** Stripe does not know the path, as where a proxy has rewritten it. */
export const UNKNOWN_PATH: StripeAnswer = {
  status: 404,
  body: errorBody('Unrecognized request URL (GET: /stripe/v1). Please see https://stripe.com/docs.'),
}
export const EMPTY: StripeAnswer = { status: 200, body: {} }
export const TOO_OLD: StripeAnswer = { status: 400, body: errorBody('Invalid Stripe API version: 1999-01-01') }
/** A refusal that does not name the account of the key. */
export const NO_PERMISSION: StripeAnswer = {
  status: 403,
  body: errorBody('This application does not have the required permissions for this endpoint.'),
}
/** A refund that is missing, without a word of the other mode. */
export const NO_SUCH_REFUND: StripeAnswer = {
  status: 404,
  body: errorBody("No such refund: 're_'", { code: 'resource_missing', param: 'id' }),
}
