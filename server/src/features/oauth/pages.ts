/** The pages and the session that the OAuth flow needs, which the console provides. */

export interface OAuthPages {
  /**
   * Tells whether a browser is signed in to the console.
   * @param cookie reads a cookie of the request
   */
  isSignedIn(cookie: (name: string) => string | undefined): Promise<boolean>
  /**
   * Returns the address of the page on which a person signs in.
   * @param next a path of ours, to which it leads afterwards
   */
  signInUrl(next: string): string
  /** Returns the HTML of a page that says why the flow failed. */
  errorPage(error: { readonly code: string; readonly description: string | undefined }): string
}
