/** Answers of what stands between, when neither an event nor its absence is told. */

import type { Answer } from '../../../../test/traps/scripted-server.ts'
import { errorAnswer } from './google-api.ts'

export const DOWN: Answer = { status: 503, body: '<html><body><h1>503 Service Unavailable</h1></body></html>' }
export const SIGN_IN: Answer = {
  status: 200,
  body: '<!doctype html><html><head><title>Sign in to the network</title></head><body></body></html>',
}
/** A web filter that does not know the address. */
export const FILTERED: Answer = { status: 404, body: '<html><body><h1>404 Not Found</h1></body></html>' }
export const EMPTY: Answer = { status: 200, body: {} }

const XML = { 'content-type': 'application/xml; charset=utf-8' }
/** The answer of a server to a query that finds nothing, also where it does not know the filter. */
export const NOTHING: Answer = {
  status: 207,
  headers: XML,
  body: '<?xml version="1.0"?>\n<d:multistatus xmlns:d="DAV:"/>',
}
/** An answer of a query that was cut off on its way. */
export const CUT: Answer = {
  status: 207,
  headers: XML,
  body: '<?xml version="1.0"?>\n<d:multistatus xmlns:d="DAV:" xmlns:cal="urn:ietf:params:xml:ns:caldav"><d:response><d:href>/ann/work/a.ics</d:href>',
}
/** The page of maintenance that Nextcloud gives to WebDAV. */
export const MAINTENANCE: Answer = {
  status: 503,
  headers: { ...XML, 'retry-after': '120' },
  body: '<?xml version="1.0" encoding="utf-8"?>\n<d:error xmlns:d="DAV:" xmlns:s="http://sabredav.org/ns"><s:exception>Sabre\\DAV\\Exception\\ServiceUnavailable</s:exception><s:message>System is in maintenance mode.</s:message></d:error>',
}

const usage = { domain: 'usageLimits' }
export const RATE_LIMITED = errorAnswer({
  status: 403,
  reason: 'rateLimitExceeded',
  message: 'Rate Limit Exceeded',
  ...usage,
})
export const USER_RATE_LIMITED = errorAnswer({
  ...{ status: 403, reason: 'userRateLimitExceeded', message: 'User Rate Limit Exceeded', ...usage },
})
export const QUOTA_EXCEEDED = errorAnswer({
  ...{ status: 403, reason: 'quotaExceeded', message: 'Calendar usage limits exceeded.', ...usage },
})
export const TOO_MANY = errorAnswer({
  status: 429,
  reason: 'rateLimitExceeded',
  message: 'Rate Limit Exceeded',
  ...usage,
})
export const NOT_FOUND = errorAnswer({ status: 404, reason: 'notFound', message: 'Not Found', domain: 'global' })
export const BACKEND_ERROR = errorAnswer({
  status: 500,
  reason: 'backendError',
  message: 'Backend Error',
  domain: 'global',
})
export const DENIED = errorAnswer({
  ...{ status: 403, reason: 'accessNotConfigured', message: 'Access Not Configured.', ...usage },
})
export const REVOKED: Answer = {
  status: 400,
  body: { error: 'invalid_grant', error_description: 'Token has been expired or revoked.' },
}
