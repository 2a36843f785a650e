/** What browsers may do with our pages. */

/** What a page may load, and from where: ours alone. @param formAction where else the answer to a form of it may lead to */
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
    // So that browsers name the origin of forms.
    'referrer-policy': 'same-origin',
  }
}
