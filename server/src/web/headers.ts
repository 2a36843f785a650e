/** Security headers of pages. */

/** Makes the headers of pages: a page may load only from our origin, and its forms lead nowhere else. */
export function pageHeaders(): Readonly<Record<string, string>> {
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      "connect-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'cross-origin-opener-policy': 'same-origin',
    // Browsers send the Origin of forms, and the Referer within the console.
    'referrer-policy': 'same-origin',
  }
}
