/** What the OAuth flow needs of the pages that people see; the console has them. */

export interface OAuthPages {
  /** @param cookie reads a cookie of the request */
  isSignedIn(cookie: (name: string) => string | undefined): Promise<boolean>
  /** The HTML of a page that says why the flow cannot go on. */
  errorPage(error: { readonly code: string; readonly description: string | undefined }): string
}
