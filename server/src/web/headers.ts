/** Security headers of pages. */

/** A page may load only from our origin. @param formAction another origin that the answer to a form may redirect to */
export function pageHeaders(formAction?: string): Readonly<Record<string, string>> {
  const sources = formAction === undefined ? "'self'" : `'self' ${formAction}`
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      "connect-src 'self'",
      `form-action ${sources}`,
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'cross-origin-opener-policy': 'same-origin',
    // Browsers send the Origin of forms, and the Referer within the console.
    'referrer-policy': 'same-origin',
  }
}
